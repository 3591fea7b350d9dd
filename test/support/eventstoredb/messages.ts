import type { ReadReq, ReadResp as ReadRespType } from '@eventstore/db-client/generated/streams_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import * as grpc from '@grpc/grpc-js'
import { type Expected, maxAppendBytes, type Proposed, type Stored } from './log.ts'

const { ReadResp } = streams
export type AppendRequest = InstanceType<typeof streams.AppendReq>
export type ReadOptions = ReadReq.Options
export type ReadResponse = ReadRespType

export const failure = (code: grpc.status, details: string, meta: Readonly<Record<string, string>> = {}) => {
  const metadata = new grpc.Metadata()
  for (const [name, value] of Object.entries(meta)) metadata.set(name, value)
  return Object.assign(new Error(details), { code, details, metadata })
}
export const denied = () => failure(grpc.status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' })
export const unauthenticated = () => failure(grpc.status.UNAUTHENTICATED, 'Unauthenticated')
export const unavailable = () => failure(grpc.status.UNAVAILABLE, 'the connection was cut')
/** Returns the error for a stream with a tombstone, or for an append over the size limit. */
export const refusal = (stream: string, refused: 'deleted' | 'too large') =>
  refused === 'deleted'
    ? failure(grpc.status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
        exception: 'stream-deleted',
        'stream-name': stream,
      })
    : failure(grpc.status.INVALID_ARGUMENT, `Maximum Append Size of ${maxAppendBytes} Exceeded.`, {
        exception: 'maximum-append-size-exceeded',
        'maximum-append-size': String(maxAppendBytes),
      })

interface Expecting {
  readonly hasNoStream: () => boolean
  readonly hasStreamExists: () => boolean
  readonly hasAny: () => boolean
}
export const expectedOf = (options: Expecting, revision: string): Expected => {
  if (options.hasNoStream()) return 'no_stream'
  if (options.hasStreamExists()) return 'stream_exists'
  return options.hasAny() ? 'any' : Number(revision)
}

type Identifier = InstanceType<typeof shared.StreamIdentifier>
export const nameOf = (identifier: Identifier | undefined) => Buffer.from(identifier!.getStreamName_asU8()).toString()
export const identifier = (stream: string) =>
  new shared.StreamIdentifier().setStreamName(Buffer.from(stream).toString('base64'))

export const proposed = (message: ReturnType<AppendRequest['getProposedMessage']> & object): Proposed => ({
  id: message.getId()!.getString(),
  type: message.getMetadataMap().get('type') ?? '',
  contentType: message.getMetadataMap().get('content-type') ?? '',
  data: message.getData_asU8(),
  metadata: message.getCustomMetadata_asU8(),
})

/** of a tombstone */
const lastRevision = String(2n ** 63n - 1n)

export const eventResponse = (stored: Stored) => {
  const record = new ReadResp.ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString(stored.id))
    .setStreamIdentifier(identifier(stored.stream))
    .setStreamRevision(stored.revision === Infinity ? lastRevision : String(stored.revision))
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
export const checkpointResponse = (position: number) => {
  const at = String(position)
  return new ReadResp().setCheckpoint(new ReadResp.Checkpoint().setCommitPosition(at).setPreparePosition(at))
}

/** Returns whether an event passes the filter of a read or a subscription. */
export const filterOf = (options: ReadOptions) => {
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
