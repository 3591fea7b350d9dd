import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import type { ReadReq, ReadResp as ReadRespType } from '@eventstore/db-client/generated/streams_pb.js'
import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import serverFeaturesService from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import serverFeatures from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import statuses from '@eventstore/db-client/generated/status_pb.js'
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import * as grpc from '@grpc/grpc-js'
import any from 'google-protobuf/google/protobuf/any_pb.js'

/*
 * A stand-in for EventStoreDB where none can be had: it speaks the protocol to the real client, and does what a real server was seen to do.
 * What it can do beyond is to fail on command.
 */

const { AppendReq, AppendResp, BatchAppendResp, DeleteResp, ReadResp, TombstoneResp } = streams
const { Empty } = shared

interface Proposed {
  readonly id: string
  readonly type: string
  readonly contentType: string
  readonly data: Uint8Array
  readonly metadata: Uint8Array
}
interface Stored extends Proposed {
  readonly stream: string
  readonly revision: number
  readonly position: number
  readonly created: number
}
type Expected = number | 'any' | 'no_stream' | 'stream_exists'
type Outcome =
  | { readonly revision: number; readonly position: number }
  | { readonly wrong: number }
  | { readonly refused: 'deleted' | 'too large' }

const mostBytes = 1024 * 1024

/** The log itself; several nodes may serve it. */
export const memoryLog = () => {
  const appended = new EventEmitter().setMaxListeners(0)
  const all: Stored[] = []
  const revisions = new Map<string, number>()
  /** soft-deleted up to this revision, or for ever */
  const deleted = new Map<string, number>()
  /** what a server knows of ids until it is started again */
  let remembered = new Map<string, Stored>()
  let end = 0

  const visible = ({ stream, revision }: Stored) => revision > (deleted.get(stream) ?? -1)
  const put = (stream: string, event: Proposed) => {
    const revision = (revisions.get(stream) ?? -1) + 1
    const stored = { ...event, stream, revision, position: end, created: Date.now() }
    end += 120 + event.data.length + event.metadata.length
    revisions.set(stream, revision)
    remembered.set(`${stream} ${event.id}`, stored)
    all.push(stored)
    return stored
  }
  const system = (type: string) => {
    const [contentType, text] = ['application/json', new TextEncoder().encode('{}')]
    put('$system', { id: randomUUID(), type, contentType, data: text, metadata: new Uint8Array() })
    appended.emit('append')
  }
  // a server's log never begins with an event of ours
  system('$UserCreated')

  const append = (stream: string, expected: Expected, events: readonly Proposed[]): Outcome => {
    if (deleted.get(stream) === Infinity) return { refused: 'deleted' }
    const bytes = events.reduce((sum, e) => sum + e.data.length + e.metadata.length + 2 * e.type.length, 0)
    if (bytes > mostBytes) return { refused: 'too large' }
    const current = revisions.get(stream) ?? -1
    const gone = current <= (deleted.get(stream) ?? -1)
    const at = expected === 'no_stream' ? (gone ? current : -1) : expected
    if (typeof at === 'number' && at !== current) {
      const there = all.filter((e) => e.stream === stream && e.revision > at && e.revision <= at + events.length)
      const repeated = there.length === events.length && there.every(({ id }, i) => id === events[i]?.id)
      return repeated ? there.at(-1)! : { wrong: gone ? -1 : current }
    }
    if (at === 'stream_exists' && gone) return { wrong: -1 }
    if (typeof at !== 'number') {
      const known = events.map(({ id }) => remembered.get(`${stream} ${id}`))
      if (known.every((event) => event !== undefined)) return known.at(-1)!
    }
    const stored = events.map((event) => put(stream, event))
    appended.emit('append')
    return stored.at(-1) ?? { revision: current, position: end }
  }

  return {
    append,
    system,
    /** all there is: what was deleted stays here, as it does on a server until it is scavenged */
    all: all as readonly Stored[],
    of: (stream: string) => all.filter((event) => event.stream === stream && visible(event)),
    remove: (stream: string, forEver: boolean) =>
      void deleted.set(stream, forEver ? Infinity : (revisions.get(stream) ?? -1)),
    isTombstone: (stream: string) => deleted.get(stream) === Infinity,
    forget: () => (remembered = new Map()),
    appended,
  }
}
export type MemoryLog = ReturnType<typeof memoryLog>

/** A call that has come in, which a spec may let fail. */
export interface Call {
  readonly kind: 'append' | 'read' | 'subscribe'
  /** `$all` too */
  readonly stream: string
  /** types of the events that are to be appended */
  readonly types: readonly string[]
}
export type Fault =
  /** refused, with the address of the leader */
  | 'not leader'
  | 'unavailable'
  | 'access denied'
  /** an append: nothing is stored, and there is never an answer */
  | 'silent'
  /** an append: stored, and answered without its position */
  | 'no position'
  /** a subscription: the next event is not sent, but a checkpoint that is beyond it, and then the connection is cut */
  | 'checkpoint ahead'
  /** an append: stored; then never answered, cut off, or answered so many ms later */
  | { readonly stored: 'unanswered' | 'cut' | number }
  /** a read or a subscription: after so many events */
  | { readonly after: number; readonly is: 'cut' | 'ended' | 'silent' }

const failure = (code: grpc.status, details: string, meta: Readonly<Record<string, string>> = {}) => {
  const metadata = new grpc.Metadata()
  for (const [name, value] of Object.entries(meta)) metadata.set(name, value)
  return Object.assign(new Error(details), { code, details, metadata })
}
const denied = () => failure(grpc.status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' })
const unavailable = () => failure(grpc.status.UNAVAILABLE, 'the connection was cut')

interface Expecting {
  readonly hasNoStream: () => boolean
  readonly hasStreamExists: () => boolean
  readonly hasAny: () => boolean
}
const expectedOf = (options: Expecting, revision: string): Expected => {
  if (options.hasNoStream()) return 'no_stream'
  if (options.hasStreamExists()) return 'stream_exists'
  return options.hasAny() ? 'any' : Number(revision)
}
type Identifier = InstanceType<typeof shared.StreamIdentifier>
const nameOf = (identifier: Identifier | undefined) => Buffer.from(identifier!.getStreamName_asU8()).toString()
const identifier = (stream: string) =>
  new shared.StreamIdentifier().setStreamName(Buffer.from(stream).toString('base64'))
const proposed = (message: ReturnType<InstanceType<typeof AppendReq>['getProposedMessage']> & object): Proposed => ({
  id: message.getId()!.getString(),
  type: message.getMetadataMap().get('type') ?? '',
  contentType: message.getMetadataMap().get('content-type') ?? '',
  data: message.getData_asU8(),
  metadata: message.getCustomMetadata_asU8(),
})

const eventResponse = (stored: Stored) => {
  const record = new ReadResp.ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString(stored.id))
    .setStreamIdentifier(identifier(stored.stream))
    .setStreamRevision(String(stored.revision))
    .setCommitPosition(String(stored.position))
    .setPreparePosition(String(stored.position))
    .setData(stored.data)
    .setCustomMetadata(stored.metadata)
  record.getMetadataMap().set('type', stored.type)
  record.getMetadataMap().set('content-type', stored.contentType)
  record.getMetadataMap().set('created', String(stored.created * 10_000)) // ticks of 100 ns
  const event = new ReadResp.ReadEvent().setEvent(record).setCommitPosition(String(stored.position))
  return new ReadResp().setEvent(event)
}
const checkpointResponse = (position: number) => {
  const at = String(position)
  return new ReadResp().setCheckpoint(new ReadResp.Checkpoint().setCommitPosition(at).setPreparePosition(at))
}

type Options = ReadReq.Options
const filterOf = (options: Options) => {
  const filter = options.getFilter()
  if (!filter) return () => true
  const onStream = filter.hasStreamIdentifier()
  const expression = onStream ? filter.getStreamIdentifier()! : filter.getEventType()!
  const regex = expression.getRegex() ? new RegExp(expression.getRegex()) : undefined
  return ({ stream, type }: Stored) => {
    const text = onStream ? stream : type
    return regex ? regex.test(text) : expression.getPrefixList().some((prefix) => text.startsWith(prefix))
  }
}

export interface DoubleOptions {
  readonly log?: MemoryLog
  /** port of the leader, as this node knows it (0: it does not say); by default its own */
  readonly leader?: () => number
}

/** A node on a free port of this machine. */
export const startDouble = async ({ log = memoryLog(), leader }: DoubleOptions = {}) => {
  const calls = { append: 0, batchAppend: 0, read: 0, subscribe: 0 }
  let fault: (call: Call) => Fault | undefined = () => undefined
  const notLeader = () =>
    failure(grpc.status.NOT_FOUND, 'Leader info available', {
      exception: 'not-leader',
      'leader-endpoint-host': '127.0.0.1',
      'leader-endpoint-port': String(leader?.() ?? port),
    })

  /** Stores, and answers as the fault has it. */
  const appending = (
    stream: string,
    expected: Expected,
    events: readonly Proposed[],
    answer: (error: Error | null, outcome?: Outcome, positioned?: boolean) => void,
  ) => {
    const found = fault({ kind: 'append', stream, types: events.map(({ type }) => type) })
    if (found === 'silent') return
    if (found === 'not leader') return answer(notLeader())
    if (found === 'unavailable') return answer(unavailable())
    if (found === 'access denied') return answer(denied())
    const outcome = log.append(stream, expected, events)
    const stored = typeof found === 'object' && 'stored' in found ? found.stored : 0
    if (stored === 'unanswered') return
    if (stored === 'cut') return answer(unavailable())
    if (stored > 0) setTimeout(() => answer(null, outcome), stored)
    else answer(null, outcome, found !== 'no position')
  }
  const refusal = (stream: string, refused: 'deleted' | 'too large') =>
    refused === 'deleted'
      ? failure(grpc.status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
          exception: 'stream-deleted',
          'stream-name': stream,
        })
      : failure(grpc.status.INVALID_ARGUMENT, `Maximum Append Size of ${mostBytes} Exceeded.`, {
          exception: 'maximum-append-size-exceeded',
          'maximum-append-size': String(mostBytes),
        })

  const append: grpc.handleClientStreamingCall<InstanceType<typeof AppendReq>, InstanceType<typeof AppendResp>> = (
    call,
    answer,
  ) => {
    calls.append++
    let options: ReturnType<InstanceType<typeof AppendReq>['getOptions']>
    const events: Proposed[] = []
    call.on('data', (request: InstanceType<typeof AppendReq>) => {
      if (request.hasOptions()) options = request.getOptions()
      else events.push(proposed(request.getProposedMessage()!))
    })
    call.on('error', () => {})
    call.on('end', () => {
      const stream = nameOf(options!.getStreamIdentifier())
      const expected = expectedOf(options!, options!.getRevision())
      appending(stream, expected, events, (error, outcome, positioned = true) => {
        if (error || !outcome) return answer(error)
        if ('refused' in outcome) return answer(refusal(stream, outcome.refused))
        if ('wrong' in outcome) {
          const wrong = new AppendResp.WrongExpectedVersion()
          if (outcome.wrong < 0) wrong.setCurrentNoStream(new Empty())
          else wrong.setCurrentRevision(String(outcome.wrong))
          if (typeof expected === 'number') wrong.setExpectedRevision(String(expected))
          else if (expected === 'no_stream') wrong.setExpectedNoStream(new Empty())
          else wrong.setExpectedAny(new Empty())
          return answer(null, new AppendResp().setWrongExpectedVersion(wrong))
        }
        const at = String(outcome.position)
        const success = new AppendResp.Success().setCurrentRevision(String(outcome.revision))
        if (positioned) success.setPosition(new AppendResp.Position().setCommitPosition(at).setPreparePosition(at))
        else success.setNoPosition(new Empty())
        answer(null, new AppendResp().setSuccess(success))
      })
    })
  }

  type BatchReq = InstanceType<typeof streams.BatchAppendReq>
  const batchAppend: grpc.handleBidiStreamingCall<BatchReq, InstanceType<typeof BatchAppendResp>> = (call) => {
    const pending = new Map<string, { readonly options: BatchReq; readonly events: Proposed[] }>()
    call.on('error', () => {})
    call.on('end', () => call.end())
    call.on('data', (request: BatchReq) => {
      const id = JSON.stringify(request.getCorrelationId()!.toObject())
      const batch = pending.get(id) ?? { options: request, events: [] }
      pending.set(id, batch)
      batch.events.push(...request.getProposedMessagesList().map(proposed))
      if (!request.getIsFinal()) return
      calls.batchAppend++
      pending.delete(id)
      const options = batch.options.getOptions()!
      const stream = nameOf(options.getStreamIdentifier())
      const expected = expectedOf(options, options.getStreamPosition())
      appending(stream, expected, batch.events, (error, outcome) => {
        if (error || !outcome) return void call.emit('error', error)
        const response = new BatchAppendResp()
          .setCorrelationId(request.getCorrelationId())
          .setStreamIdentifier(options.getStreamIdentifier())
        if ('refused' in outcome) return void call.emit('error', refusal(stream, outcome.refused))
        if ('wrong' in outcome) {
          const wrong = new shared.WrongExpectedVersion()
          if (outcome.wrong < 0) wrong.setCurrentNoStream(new Empty())
          else wrong.setCurrentStreamRevision(String(outcome.wrong))
          const details = new any.Any()
          details.pack(wrong.serializeBinary(), 'event_store.client.WrongExpectedVersion')
          response.setError(new statuses.Status().setMessage('WrongExpectedVersion').setDetails(details))
        } else {
          const at = String(outcome.position)
          response.setSuccess(
            new BatchAppendResp.Success()
              .setCurrentRevision(String(outcome.revision))
              .setPosition(new shared.AllStreamPosition().setCommitPosition(at).setPreparePosition(at)),
          )
        }
        call.write(response)
      })
    })
  }

  type Reading = grpc.ServerWritableStream<ReadReq, ReadRespType>
  const write = async (call: Reading, response: ReadRespType) => {
    if (call.write(response) || call.cancelled) return
    const waiting = new AbortController()
    const { signal } = waiting
    await Promise.race(['drain', 'cancelled', 'close'].map((name) => once(call, name, { signal }))).catch(() => {})
    waiting.abort()
  }

  /** Ends the call in the way of the fault; true: nothing more is sent. */
  const cut = (call: Reading, found: Fault | undefined, sent: number) => {
    if (typeof found !== 'object' || !('is' in found) || sent < found.after) return false
    if (found.is === 'cut') call.emit('error', unavailable())
    if (found.is === 'ended') call.end()
    return true
  }

  const readOnce = async (call: Reading, options: Options, stream: string, found: Fault | undefined) => {
    const backwards = options.getReadDirection() === 1
    const passes = filterOf(options)
    const count = Number(options.getCount())
    if (log.isTombstone(stream)) return void call.emit('error', refusal(stream, 'deleted'))
    const there = stream === '$all' ? log.all : log.of(stream)
    if (stream !== '$all' && there.length === 0) {
      const response = new ReadResp()
      call.write(response.setStreamNotFound(new ReadResp.StreamNotFound().setStreamIdentifier(identifier(stream))))
      return void call.end()
    }
    const from = stream === '$all' ? options.getAll()! : options.getStream()!
    const place =
      'getPosition' in from
        ? Number(from.getPosition()?.getCommitPosition())
        : Number((from as InstanceType<typeof ReadRequestStream>).getRevision())
    const of = ({ position, revision }: Stored) => (stream === '$all' ? position : revision)
    const inside = (event: Stored) =>
      from.hasStart()
        ? !backwards
        : from.hasEnd()
          ? backwards
          : backwards
            ? stream === '$all'
              ? of(event) < place
              : of(event) <= place
            : of(event) >= place
    const wanted = (backwards ? there.toReversed() : there).filter((e) => inside(e) && passes(e)).slice(0, count)
    let sent = 0
    for (const event of wanted) {
      if (call.cancelled || cut(call, found, sent)) return
      await write(call, eventResponse(event))
      sent++
    }
    if (!cut(call, found, sent)) call.end()
  }

  const subscription = async (call: Reading, options: Options, stream: string, found: Fault | undefined) => {
    const passes = filterOf(options)
    const from = options.getAll()!
    const after = from.hasStart() ? -1 : from.hasEnd() ? Infinity : Number(from.getPosition()!.getCommitPosition())
    const interval = 32 * (options.getFilter()?.getCheckpointintervalmultiplier() ?? 1)
    const gone = new AbortController()
    call.once('cancelled', () => gone.abort())
    const confirmation = new ReadResp.SubscriptionConfirmation().setSubscriptionId(randomUUID())
    call.write(new ReadResp().setConfirmation(confirmation))
    let [next, sent, skipped, caughtUp] = [log.all.findIndex(({ position }) => position > after), 0, 0, false]
    if (next < 0) next = log.all.length
    while (!call.cancelled) {
      if (cut(call, found, sent)) return
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
      if (found === 'checkpoint ahead') {
        call.write(checkpointResponse(event.position + 1))
        setTimeout(() => call.emit('error', unavailable()), 20)
        return
      }
      await write(call, eventResponse(event))
      sent++
    }
  }

  const read: grpc.handleServerStreamingCall<ReadReq, ReadRespType> = (call) => {
    const options = call.request.getOptions()!
    const kind = options.hasSubscription() ? 'subscribe' : 'read'
    const stream = options.hasAll() ? '$all' : nameOf(options.getStream()!.getStreamIdentifier())
    calls[kind]++
    call.on('error', () => {})
    const found = fault({ kind, stream, types: [] })
    if (found === 'not leader') return void call.emit('error', notLeader())
    if (found === 'unavailable') return void call.emit('error', unavailable())
    if (found === 'access denied') return void call.emit('error', denied())
    if (found === 'silent') return
    void (kind === 'subscribe' ? subscription : readOnce)(call, options, stream, found)
  }

  const supported: grpc.handleUnaryCall<
    InstanceType<typeof Empty>,
    InstanceType<typeof serverFeatures.SupportedMethods>
  > = (_, answer) => {
    const methods = new serverFeatures.SupportedMethods().setEventStoreServerVersion('24.10.0')
    for (const name of ['append', 'batchappend', 'read', 'delete', 'tombstone'])
      methods.addMethods(
        new serverFeatures.SupportedMethod()
          .setServiceName('event_store.client.streams.streams')
          .setMethodName(name)
          .setFeaturesList(name === 'read' ? ['position', 'events'] : []),
      )
    answer(null, methods)
  }
  /** What a client asks that is given several addresses. */
  const members: grpc.handleUnaryCall<InstanceType<typeof Empty>, InstanceType<typeof gossip.ClusterInfo>> = (
    _,
    answer,
  ) => {
    const known = leader?.() ?? port
    if (known === 0) return
    const member = new gossip.MemberInfo()
      .setInstanceId(new shared.UUID().setString(randomUUID()))
      .setTimeStamp('0')
      .setState(gossip.MemberInfo.VNodeState.LEADER)
      .setIsAlive(true)
      .setHttpEndPoint(new gossip.EndPoint().setAddress('127.0.0.1').setPort(known))
    answer(null, new gossip.ClusterInfo().setMembersList([member]))
  }
  const remove =
    (forEver: boolean): grpc.handleUnaryCall<InstanceType<typeof streams.DeleteReq>, grpc.ServiceError> =>
    (call, answer) => {
      log.remove(nameOf(call.request.getOptions()!.getStreamIdentifier()), forEver)
      answer(null, (forEver ? new TombstoneResp() : new DeleteResp()) as never)
    }

  let server: grpc.Server | undefined
  let port = 0
  const up = async () => {
    server = new grpc.Server({ 'grpc.max_receive_message_length': 32 * 1024 * 1024 })
    server.addService(serverFeaturesService.ServerFeaturesService, { getSupportedMethods: supported as never })
    server.addService(gossipService.GossipService, { read: members as never })
    const methods = { append, batchAppend, read, delete: remove(false), tombstone: remove(true) }
    server.addService(streamsService.StreamsService, methods as never)
    port = await new Promise<number>((resolve, reject) =>
      server!.bindAsync(`127.0.0.1:${port}`, grpc.ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      ),
    )
  }
  /** As `kill -9` has it: what is under way is cut off. */
  const down = async () => {
    server?.forceShutdown()
    server = undefined
    log.forget()
    await new Promise((done) => setTimeout(done, 10))
  }
  await up()

  return {
    url: `esdb://127.0.0.1:${port}?tls=false`,
    port,
    log,
    /** how many of each have come in */
    calls: calls as Readonly<typeof calls>,
    /** Decides for each call what goes wrong; by default nothing does. */
    fail: (next: (call: Call) => Fault | undefined) => void (fault = next),
    down,
    up,
    close: down,
  }
}
export type Double = Awaited<ReturnType<typeof startDouble>>
const ReadRequestStream = streams.ReadReq.Options.StreamOptions
