import { randomUUID } from 'node:crypto'
import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import serverFeaturesService from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import serverFeatures from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import * as grpc from '@grpc/grpc-js'
import { appendHandler, batchAppendHandler } from './eventstoredb/append.ts'
import type { Call, Fault, Node } from './eventstoredb/faults.ts'
import { type MemoryLog, memoryLog } from './eventstoredb/log.ts'
import { failure, nameOf } from './eventstoredb/messages.ts'
import { readHandler } from './eventstoredb/read.ts'
import { ownPort } from './ports.ts'

export type { Fault } from './eventstoredb/faults.ts'

const { Empty } = shared
type Unary<Response> = grpc.handleUnaryCall<InstanceType<typeof Empty>, Response>

export interface DoubleOptions {
  readonly log?: MemoryLog
  /** port of the leader, as far as this node knows it (0: it does not answer); by default its own */
  readonly leader?: () => number
  /** the answer of the gossip waits for it */
  readonly gossip?: () => Promise<unknown>
  /** where it listens; by default on a free port of 127.0.0.1, which stays its own while it is down */
  readonly host?: string
  /** a certificate and its key, in PEM; without it, the node speaks no TLS */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer }
  readonly port?: number
}

/**
 * Starts a stand-in for an EventStoreDB node on a free port of this machine. It speaks the protocol with the real
 * client and behaves as a real server was observed to. In addition it fails on command.
 */
export const startDouble = async (options: DoubleOptions = {}) => {
  const { log = memoryLog(), leader, gossip = async () => {}, host = '127.0.0.1' } = options
  let fault: (call: Call) => Fault | undefined = () => undefined
  let server: grpc.Server | undefined
  const port = options.port ?? (await ownPort())
  let sent = 0
  const { tls } = options
  const security = tls
    ? grpc.ServerCredentials.createSsl(null, [{ cert_chain: tls.cert, private_key: tls.key }])
    : grpc.ServerCredentials.createInsecure()
  const leaderPort = () => leader?.() ?? port
  const node: Node = {
    log,
    calls: { append: 0, batchAppend: 0, read: 0, subscribe: 0 },
    faultOf: (call) => fault(call),
    onSent: () => void sent++,
    notLeader: () =>
      failure(grpc.status.NOT_FOUND, 'Leader info available', {
        exception: 'not-leader',
        'leader-endpoint-host': '127.0.0.1',
        'leader-endpoint-port': String(leaderPort()),
      }),
  }

  const up = async () => {
    server = new grpc.Server({ 'grpc.max_receive_message_length': 32 * 1024 * 1024 })
    server.addService(serverFeaturesService.ServerFeaturesService, { getSupportedMethods: supportedMethods as never })
    server.addService(gossipService.GossipService, { read: members(leaderPort, gossip) as never })
    const methods = {
      append: appendHandler(node),
      batchAppend: batchAppendHandler(node),
      read: readHandler(node),
      delete: remove(log, false),
      tombstone: remove(log, true),
    }
    server.addService(streamsService.StreamsService, methods as never)
    await new Promise<void>((resolve, reject) =>
      server!.bindAsync(`${host}:${port}`, security, (error) => (error ? reject(error) : resolve())),
    )
  }
  /** Like `kill -9`: calls that are under way are cut off. */
  const down = async () => {
    server?.forceShutdown()
    server = undefined
    log.forget()
    await new Promise((done) => setTimeout(done, 10))
  }
  await up()

  return {
    url: tls ? `esdb://admin:changeit@127.0.0.1:${port}` : `esdb://127.0.0.1:${port}?tls=false`,
    port,
    log,
    /** how many calls of each kind have arrived */
    calls: node.calls as Readonly<Node['calls']>,
    /** how many events were sent to subscriptions */
    sent: () => sent,
    /** Chooses the fault of each call from now on; by default there is none. */
    fail: (next: (call: Call) => Fault | undefined) => void (fault = next),
    down,
    up,
    close: down,
  }
}
export type Double = Awaited<ReturnType<typeof startDouble>>

const features: Readonly<Record<string, string[]>> = {
  read: ['position', 'events'],
  batchappend: ['deadline_duration'],
}
const supportedMethods: Unary<InstanceType<typeof serverFeatures.SupportedMethods>> = (_, answer) => {
  const methods = new serverFeatures.SupportedMethods().setEventStoreServerVersion('24.10.0')
  for (const name of ['append', 'batchappend', 'read', 'delete', 'tombstone'])
    methods.addMethods(
      new serverFeatures.SupportedMethod()
        .setServiceName('event_store.client.streams.streams')
        .setMethodName(name)
        .setFeaturesList(features[name] ?? []),
    )
  answer(null, methods)
}

/** Answers a client that has several addresses and looks for the leader. */
const members =
  (leaderPort: () => number, ready: () => Promise<unknown>): Unary<InstanceType<typeof gossip.ClusterInfo>> =>
  async (_, answer) => {
    await ready()
    const port = leaderPort()
    if (port === 0) return
    const member = new gossip.MemberInfo()
      .setInstanceId(new shared.UUID().setString(randomUUID()))
      .setTimeStamp('0')
      .setState(gossip.MemberInfo.VNodeState.LEADER)
      .setIsAlive(true)
      .setHttpEndPoint(new gossip.EndPoint().setAddress('127.0.0.1').setPort(port))
    answer(null, new gossip.ClusterInfo().setMembersList([member]))
  }

const remove =
  (
    log: MemoryLog,
    tombstone: boolean,
  ): grpc.handleUnaryCall<InstanceType<typeof streams.DeleteReq>, grpc.ServiceError> =>
  (call, answer) => {
    const at = String(log.remove(nameOf(call.request.getOptions()!.getStreamIdentifier()), tombstone))
    const { TombstoneResp, DeleteResp } = streams
    const response = tombstone
      ? new TombstoneResp().setPosition(new TombstoneResp.Position().setCommitPosition(at).setPreparePosition(at))
      : new DeleteResp().setPosition(new DeleteResp.Position().setCommitPosition(at).setPreparePosition(at))
    answer(null, response as never)
  }
