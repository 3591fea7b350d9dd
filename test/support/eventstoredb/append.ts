import shared from '@eventstore/db-client/generated/shared_pb.js'
import statuses from '@eventstore/db-client/generated/status_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type * as grpc from '@grpc/grpc-js'
import any from 'google-protobuf/google/protobuf/any_pb.js'
import type { Node } from './faults.ts'
import type { Expected, Outcome, Proposed } from './log.ts'
import {
  type AppendRequest,
  denied,
  expectedOf,
  nameOf,
  proposed,
  refusal,
  unauthenticated,
  unavailable,
} from './messages.ts'

const { AppendResp, BatchAppendResp } = streams
const { Empty } = shared

type Answer = (error: Error | null, outcome?: Outcome, positioned?: boolean) => void

/** Stores the events and responds, or behaves as the fault of the call requires. */
const store = (node: Node, stream: string, expected: Expected, events: readonly Proposed[], answer: Answer) => {
  const fault = node.faultOf({ kind: 'append', stream, types: events.map(({ type }) => type) })
  if (fault === 'silent') return
  if (fault === 'not leader') return answer(node.notLeader())
  if (fault === 'unavailable') return answer(unavailable())
  if (fault === 'access denied') return answer(denied())
  if (fault === 'unauthenticated') return answer(unauthenticated())
  const outcome = node.log.append(stream, expected, events)
  if (typeof fault === 'object' && 'held' in fault) return void fault.held.then(() => answer(null, outcome))
  const stored = typeof fault === 'object' && 'stored' in fault ? fault.stored : 0
  if (stored === 'unanswered') return
  if (stored === 'cut') return answer(unavailable())
  if (stored > 0) setTimeout(() => answer(null, outcome), stored)
  else answer(null, outcome, fault !== 'no position')
}

/** The call with a deadline of its own, which the client makes when credentials come with it. */
export const appendHandler =
  (node: Node): grpc.handleClientStreamingCall<AppendRequest, InstanceType<typeof AppendResp>> =>
  (call, answer) => {
    node.calls.append++
    let options: ReturnType<AppendRequest['getOptions']>
    const events: Proposed[] = []
    call.on('data', (request: AppendRequest) => {
      if (request.hasOptions()) options = request.getOptions()
      else events.push(proposed(request.getProposedMessage()!))
    })
    call.on('error', () => {})
    call.on('end', () => {
      const stream = nameOf(options!.getStreamIdentifier())
      const expected = expectedOf(options!, options!.getRevision())
      store(node, stream, expected, events, (error, outcome, positioned = true) => {
        if (error || !outcome) return answer(error)
        if ('refused' in outcome) return answer(refusal(stream, outcome.refused))
        answer(null, 'wrong' in outcome ? wrongVersion(expected, outcome.wrong) : success(outcome, positioned))
      })
    })
  }

const wrongVersion = (expected: Expected, actual: number) => {
  const wrong = new AppendResp.WrongExpectedVersion()
  if (actual < 0) wrong.setCurrentNoStream(new Empty())
  else wrong.setCurrentRevision(String(actual))
  if (typeof expected === 'number') wrong.setExpectedRevision(String(expected))
  else if (expected === 'no_stream') wrong.setExpectedNoStream(new Empty())
  else wrong.setExpectedAny(new Empty())
  return new AppendResp().setWrongExpectedVersion(wrong)
}

const success = (
  { revision, position }: { readonly revision: number; readonly position: number },
  positioned: boolean,
) => {
  const at = String(position)
  const stored = new AppendResp.Success()
  if (revision < 0) stored.setNoStream(new Empty())
  else stored.setCurrentRevision(String(revision))
  if (positioned) stored.setPosition(new AppendResp.Position().setCommitPosition(at).setPreparePosition(at))
  else stored.setNoPosition(new Empty())
  return new AppendResp().setSuccess(stored)
}

type BatchRequest = InstanceType<typeof streams.BatchAppendReq>

/** The stream of appends that all appends of a client without credentials share. */
export const batchAppendHandler =
  (node: Node): grpc.handleBidiStreamingCall<BatchRequest, InstanceType<typeof BatchAppendResp>> =>
  (call) => {
    const pending = new Map<string, { readonly options: BatchRequest; readonly events: Proposed[] }>()
    call.on('error', () => {})
    call.on('end', () => call.end())
    call.on('data', (request: BatchRequest) => {
      const id = JSON.stringify(request.getCorrelationId()!.toObject())
      const batch = pending.get(id) ?? { options: request, events: [] }
      pending.set(id, batch)
      batch.events.push(...request.getProposedMessagesList().map(proposed))
      if (!request.getIsFinal()) return
      node.calls.batchAppend++
      pending.delete(id)
      const options = batch.options.getOptions()!
      const stream = nameOf(options.getStreamIdentifier())
      const expected = expectedOf(options, options.getStreamPosition())
      store(node, stream, expected, batch.events, (error, outcome) => {
        if (error || !outcome) return void call.emit('error', error)
        if ('refused' in outcome) return void call.emit('error', refusal(stream, outcome.refused))
        const response = new BatchAppendResp()
          .setCorrelationId(request.getCorrelationId())
          .setStreamIdentifier(options.getStreamIdentifier())
        call.write(
          'wrong' in outcome
            ? response.setError(batchWrongVersion(expected, outcome.wrong))
            : batchSuccess(response, outcome),
        )
      })
    })
  }

/** google.rpc.Code.ALREADY_EXISTS */
const alreadyExists = 6

const batchWrongVersion = (expected: Expected, actual: number) => {
  const wrong = new shared.WrongExpectedVersion()
  if (typeof expected === 'number') wrong.setExpectedStreamPosition(String(expected))
  else if (expected === 'no_stream') wrong.setExpectedNoStream(new Empty())
  else wrong.setExpectedAny(new Empty())
  if (actual < 0) wrong.setCurrentNoStream(new Empty())
  else wrong.setCurrentStreamRevision(String(actual))
  const details = new any.Any()
  details.pack(wrong.serializeBinary(), 'event_store.client.WrongExpectedVersion')
  return new statuses.Status().setCode(alreadyExists).setMessage('WrongExpectedVersion').setDetails(details)
}

const batchSuccess = (
  response: InstanceType<typeof BatchAppendResp>,
  { revision, position }: { readonly revision: number; readonly position: number },
) => {
  const at = String(position)
  return response.setSuccess(
    new BatchAppendResp.Success()
      .setCurrentRevision(String(revision))
      .setPosition(new shared.AllStreamPosition().setCommitPosition(at).setPreparePosition(at)),
  )
}
