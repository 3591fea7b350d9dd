import { randomUUID } from 'node:crypto'
import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import serverFeaturesService from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import * as grpc from '@grpc/grpc-js'
import { identifier } from './messages.ts'

const { Empty } = shared
const { AppendReq, BatchAppendReq, ReadReq } = streams
const { Options } = ReadReq

type Json = Readonly<Record<string, unknown>>
interface Message {
  readonly toObject: () => object
}
/** Where to begin: a position or revision, or one of the ends. */
export type From = number | 'start' | 'end'

interface ReadRange {
  readonly from: From
  readonly backwards?: boolean
  readonly count?: number
}
interface FilterOf {
  readonly regex?: string
  readonly prefix?: string
  /** events between two checkpoints, of those that do not pass */
  readonly window?: number
}

const json = (value: object) => JSON.parse(JSON.stringify(value)) as Json
const asError = (error: unknown) => {
  const { code, details, metadata } = error as grpc.ServiceError
  return { error: { code, details, trailers: metadata?.getMap() ?? {} } }
}
const messageOf = (response: InstanceType<typeof streams.ReadResp>): Json => {
  const event = response.getEvent()
  const recorded = event?.getEvent()
  if (!event || !recorded) {
    // numbers that are not set are in the object, too
    const { firstStreamPosition: _, lastStreamPosition: __, ...message } = response.toObject()
    return json(message)
  }
  return {
    event: {
      type: recorded.getMetadataMap().get('type'),
      revision: recorded.getStreamRevision(),
      commit: recorded.getCommitPosition(),
      prepare: recorded.getPreparePosition(),
      eventCommit: event.getCommitPosition(),
    },
  }
}

const contentOf = (id: string) => ({ id: new shared.UUID().setString(id), data: Buffer.from('{}') })

/** Calls a server as the protocol has it, without what the client makes of it. */
export const rawClient = (port: number) => {
  const address = `127.0.0.1:${port}`
  const security = grpc.credentials.createInsecure()
  const client = new streamsService.StreamsClient(address, security)
  const others = [
    new gossipService.GossipClient(address, security),
    new serverFeaturesService.ServerFeaturesClient(address, security),
  ] as const
  const answered = (call: (done: (error: unknown, response?: Message) => void) => unknown) =>
    new Promise<Json>((resolve) => {
      call((error, response) => resolve(response ? { response: json(response.toObject()) } : asError(error)))
    })

  /** Collects messages until the call ends, or has sent `count`. */
  const collect = (call: grpc.ClientReadableStream<InstanceType<typeof streams.ReadResp>>, count: number) =>
    new Promise<Json>((resolve) => {
      const messages: Json[] = []
      call.on('data', (response: InstanceType<typeof streams.ReadResp>) => {
        if (response.hasCaughtUp()) return
        if (messages.length < count) messages.push(messageOf(response))
        else return
        // an end or an error may follow
        if (messages.length === count) setTimeout(() => (resolve({ messages, stillOpen: true }), call.cancel()), 50)
      })
      call.on('error', (error: unknown) => resolve({ messages, ...asError(error) }))
      call.on('end', () => resolve({ messages, ended: true }))
    })

  const optionsOf = (stream: string | undefined, from: From) => {
    const options = new Options().setResolveLinks(false).setUuidOption(new Options.UUIDOption().setString(new Empty()))
    if (stream === undefined) {
      const all = new Options.AllOptions()
      const at = String(from)
      if (from === 'start') all.setStart(new Empty())
      else if (from === 'end') all.setEnd(new Empty())
      else all.setPosition(new Options.Position().setCommitPosition(at).setPreparePosition(at))
      return options.setAll(all)
    }
    const one = new Options.StreamOptions().setStreamIdentifier(identifier(stream))
    if (from === 'start') one.setStart(new Empty())
    else if (from === 'end') one.setEnd(new Empty())
    else one.setRevision(String(from))
    return options.setStream(one)
  }

  return {
    features: () => answered((done) => others[1].getSupportedMethods(new Empty(), done)),
    gossip: () => answered((done) => others[0].read(new Empty(), done)),
    append: (stream: string, expected: number | 'no_stream', ids: readonly string[], size = 2) =>
      answered((done) => {
        const call = client.append(done)
        const options = new AppendReq.Options().setStreamIdentifier(identifier(stream))
        if (expected === 'no_stream') options.setNoStream(new Empty())
        else options.setRevision(String(expected))
        call.write(new AppendReq().setOptions(options))
        for (const id of ids) {
          const proposed = new AppendReq.ProposedMessage()
            .setId(contentOf(id).id)
            .setData(Buffer.alloc(size, '{}'))
            .setCustomMetadata('')
          proposed.getMetadataMap().set('type', 'LinkDeleted').set('content-type', 'application/json')
          call.write(new AppendReq().setProposedMessage(proposed))
        }
        call.end()
      }),
    batchAppend: (stream: string, expected: number) =>
      new Promise<Json>((resolve) => {
        const call = client.batchAppend()
        const { id, data } = contentOf(randomUUID())
        const proposed = new BatchAppendReq.ProposedMessage().setId(id).setData(data)
        proposed.getMetadataMap().set('type', 'LinkDeleted').set('content-type', 'application/json')
        const options = new BatchAppendReq.Options()
          .setStreamIdentifier(identifier(stream))
          .setStreamPosition(String(expected))
        call.on('data', (response: Message) => (resolve({ response: json(response.toObject()) }), call.cancel()))
        call.on('error', (error: unknown) => resolve(asError(error)))
        call.write(
          new BatchAppendReq()
            .setCorrelationId(new shared.UUID().setString(randomUUID()))
            .setOptions(options)
            .setProposedMessagesList([proposed])
            .setIsFinal(true),
        )
      }),
    remove: (stream: string, forEver: boolean) =>
      answered((done) => {
        const of = identifier(stream)
        if (!forEver)
          return client.delete(
            new streams.DeleteReq().setOptions(
              new streams.DeleteReq.Options().setStreamIdentifier(of).setAny(new Empty()),
            ),
            done,
          )
        const options = new streams.TombstoneReq.Options().setStreamIdentifier(of).setAny(new Empty())
        return client.tombstone(new streams.TombstoneReq().setOptions(options), done)
      }),
    /** Reads a stream, or without one `$all`. */
    read: (stream: string | undefined, { from, backwards = false, count = 100 }: ReadRange) => {
      const options = optionsOf(stream, from)
        .setReadDirection(backwards ? 1 : 0)
        .setCount(String(count))
        .setNoFilter(new Empty())
      return collect(client.read(new ReadReq().setOptions(options)), Infinity)
    },
    /** Subscribes to `$all` until there are `count` messages. */
    subscribe: (from: From, count: number, { regex, prefix, window = 32 }: FilterOf = {}) => {
      const expression = new Options.FilterOptions.Expression()
      if (prefix === undefined) expression.setRegex(regex ?? '.')
      else expression.setPrefixList([prefix])
      const filter = new Options.FilterOptions()
        .setEventType(expression)
        .setMax(window)
        .setCheckpointintervalmultiplier(1)
      const options = optionsOf(undefined, from).setSubscription(new Options.SubscriptionOptions()).setFilter(filter)
      return collect(client.read(new ReadReq().setOptions(options)), count)
    },
    close: () => [client, ...others].forEach((one) => one.close()),
  }
}
