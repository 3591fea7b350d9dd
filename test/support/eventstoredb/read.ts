import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import * as grpc from '@grpc/grpc-js'
import type { Fault, Node } from './faults.ts'
import type { Stored } from './log.ts'
import {
  checkpointResponse,
  denied,
  eventResponse,
  failure,
  filterOf,
  identifier,
  nameOf,
  type ReadOptions,
  type ReadResponse,
  refusal,
  unauthenticated,
  unavailable,
} from './messages.ts'

const { ReadResp } = streams

type Reading = grpc.ServerWritableStream<ReadReq, ReadResponse>

/** A read or a subscription, with its options taken out of the request. */
interface Request {
  readonly call: Reading
  readonly options: ReadOptions
  readonly stream: string
  readonly fault: Fault | undefined
}

export const readHandler =
  (node: Node): grpc.handleServerStreamingCall<ReadReq, ReadResponse> =>
  (call) => {
    const options = call.request.getOptions()!
    const kind = options.hasSubscription() ? 'subscribe' : 'read'
    const stream = options.hasAll() ? '$all' : nameOf(options.getStream()!.getStreamIdentifier())
    node.calls[kind]++
    call.on('error', () => {})
    const fault = node.faultOf({ kind, stream, types: [], backwards: options.getReadDirection() === 1 })
    if (fault === 'not leader') return void call.emit('error', node.notLeader())
    if (fault === 'unavailable') return void call.emit('error', unavailable())
    if (fault === 'access denied') return void call.emit('error', denied())
    if (fault === 'unauthenticated') return void call.emit('error', unauthenticated())
    if (fault === 'silent') return
    const request = { call, options, stream, fault }
    if (kind === 'subscribe') void subscribe(node, request)
    else if (typeof fault === 'object' && 'held' in fault) void fault.held.then(() => read(node, request))
    else void read(node, request)
  }

/** Writes a response and waits while the client does not take more, or `ends` has aborted. */
const write = async (call: Reading, response: ReadResponse, ends?: AbortSignal) => {
  if (call.write(response) || call.cancelled) return
  const waiting = new AbortController()
  const signal = ends ? AbortSignal.any([waiting.signal, ends]) : waiting.signal
  await Promise.race(['drain', 'cancelled', 'close'].map((name) => once(call, name, { signal }))).catch(() => {})
  waiting.abort()
}

/** events that a server keeps for a live subscription whose client does not take them */
const liveBuffer = 32

/** Aborts when the client of a live subscription takes nothing while more events wait than the server keeps. */
const watchBuffer = ({ appended }: Node['log'], waiting: () => number) => {
  const overflow = new AbortController()
  const look = () => {
    if (waiting() > liveBuffer) overflow.abort()
  }
  appended.on('append', look)
  return { signal: overflow.signal, stop: () => void appended.off('append', look) }
}

/** Applies a fault that begins after some events. Returns whether nothing more is to be sent. */
const cut = ({ call, fault }: Request, sent: number) => {
  if (typeof fault !== 'object' || !('is' in fault) || sent < fault.after) return false
  if (fault.is === 'cut') call.emit('error', unavailable())
  if (fault.is === 'ended') call.end()
  return true
}

const read = async ({ log }: Node, request: Request) => {
  const { call, options, stream } = request
  if (log.isTombstone(stream)) return void call.emit('error', refusal(stream, 'deleted'))
  const there = stream === '$all' ? log.all : log.of(stream)
  if (stream !== '$all' && there.length === 0) {
    const notFound = new ReadResp.StreamNotFound().setStreamIdentifier(identifier(stream))
    call.write(new ReadResp().setStreamNotFound(notFound))
    return void call.end()
  }
  const start = options.getAll()?.getPosition()
  if (start && !log.isReadableFrom(Number(start.getCommitPosition())))
    return void call.emit('error', failure(grpc.status.UNKNOWN, 'Unexpected ReadAllResult: Error'))
  const backwards = options.getReadDirection() === 1
  const passes = filterOf(options)
  const inside = rangeOf(options, stream === '$all', backwards)
  const wanted = (backwards ? there.toReversed() : there)
    .filter((event) => inside(event) && passes(event))
    .slice(0, Number(options.getCount()))
  let sent = 0
  for (const event of wanted) {
    if (call.cancelled || cut(request, sent)) return
    await write(call, eventResponse(event))
    sent++
  }
  if (!cut(request, sent)) call.end()
}

/**
 * Returns a predicate for the events on the requested side of the start of a read. When `$all` is read backwards, the
 * start itself is excluded.
 */
const rangeOf = (options: ReadOptions, all: boolean, backwards: boolean) => {
  const from = all ? options.getAll()! : options.getStream()!
  if (from.hasStart()) return () => !backwards
  if (from.hasEnd()) return () => backwards
  const start = all
    ? Number(options.getAll()!.getPosition()?.getCommitPosition())
    : Number(options.getStream()!.getRevision())
  return ({ position, revision }: Stored) => {
    const at = all ? position : revision
    if (!backwards) return at >= start
    return all ? at < start : at <= start
  }
}

const subscribe = async ({ log, onSent }: Node, request: Request) => {
  const { call, options, stream, fault } = request
  const passes = filterOf(options)
  const from = options.getAll()!
  const position = from.getPosition()
  if (position && !log.isReadableFrom(Number(position.getCommitPosition())))
    return void call.emit('error', failure(grpc.status.UNKNOWN, 'Exception was thrown by handler.'))
  const after = from.hasStart() ? -1 : from.hasEnd() ? Infinity : Number(from.getPosition()!.getCommitPosition())
  const filter = options.getFilter()
  const interval = (filter?.getMax() || 32) * (filter?.getCheckpointintervalmultiplier() ?? 1)
  const gone = new AbortController()
  call.once('cancelled', () => gone.abort())
  const confirmation = new ReadResp.SubscriptionConfirmation().setSubscriptionId(randomUUID())
  call.write(new ReadResp().setConfirmation(confirmation))
  let [next, sent, skipped, caughtUp] = [log.all.findIndex(({ position }) => position > after), 0, 0, false]
  if (next < 0) next = log.all.length
  while (!call.cancelled) {
    if (cut(request, sent)) return
    const event = log.all[next]
    if (!event) {
      if (!caughtUp) call.write(new ReadResp().setCaughtUp(new ReadResp.CaughtUp()))
      caughtUp = true
      await once(log.appended, 'append', { signal: gone.signal }).catch(() => {})
      continue
    }
    next++
    if ((stream !== '$all' && event.stream !== stream) || !passes(event)) {
      if (++skipped % interval === 0) await write(call, checkpointResponse(event.position))
      continue
    }
    if (fault === 'checkpoint ahead') {
      call.write(checkpointResponse(event.position + 1))
      setTimeout(() => call.emit('error', unavailable()), 20)
      return
    }
    const buffer = watchBuffer(log, () => (caughtUp ? log.all.slice(next).filter(passes).length : 0))
    await write(call, eventResponse(event), buffer.signal)
    buffer.stop()
    if (buffer.signal.aborted) return void call.emit('error', tooSlow())
    onSent()
    sent++
  }
}

const tooSlow = () => failure(grpc.status.ABORTED, 'Consumer too slow to handle event while live')
