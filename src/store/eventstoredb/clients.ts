import { accessSync, constants } from 'node:fs'
import type { Credentials, EventStoreDBClient } from '@eventstore/db-client'
import { OperatorError } from '../../lib/operatorerror.ts'
import { library } from './library.ts'

interface Channel {
  readonly close: () => void
  readonly getConnectivityState: (connect: boolean) => unknown
}
/** What the client calls a method of the server with. */
interface Connection {
  readonly getChannel: () => Channel
}
type Action = (connection: Connection) => unknown

/** Members of the client that its types do not declare. */
interface Internals {
  handleError: (...args: readonly unknown[]) => Promise<void>
  execute: (service: unknown, name: string, action: Action) => Promise<unknown>
  GRPCStreamCreator: (service: unknown, name: string, action: Action, cache?: unknown) => () => Promise<unknown>
  readonly getChannel: () => Promise<Channel>
}

/** A call waited for a connection that was closed before the call began. Nothing was sent. */
export class ConnectionClosed extends Error {
  override readonly name = 'ConnectionClosed'
}

export interface Clients {
  /** host:port, without the credentials, for messages */
  readonly address: string
  readonly credentials: Credentials
  readonly tls: boolean
  readonly current: () => EventStoreDBClient
  /**
   * Replaces a client that does not answer; calls that are under way on it continue there. Does nothing when another
   * caller has replaced it already, or when the current client is younger than 2 s.
   */
  readonly replace: (stuck: EventStoreDBClient) => void
  readonly close: () => Promise<void>
}

/** ms: the many calls that time out on a dead server must not open a connection each */
const minimumAge = 2000

/** One client at a time for an EventStoreDB. The settings have validated `url`. */
export const openClients = (url: string): Clients => {
  const [, user, password, address = ''] = /^esdb[^:]*:\/\/(?:([^:@/]+):([^@]*)@)?([^/?]+)/.exec(url) ?? []
  // the client drops them on a connection without TLS
  const credentials = { username: decodeURIComponent(user ?? ''), password: decodeURIComponent(password ?? '') }

  requireFiles(url)
  let client = open(url)
  let openedAt = performance.now()
  return {
    address,
    credentials,
    tls: !/[?&]tls=false(?:&|$)/i.test(url),
    current: () => client,
    replace: (stuck) => {
      if (stuck !== client || performance.now() - openedAt < minimumAge) return
      client = open(url)
      openedAt = performance.now()
      void closeChannel(stuck)
    },
    close: async () => {
      // not awaited: it waits for the end of streams that have already ended
      void client.dispose()
      await closeChannel(client)
    },
  }
}

/** The client names neither the setting nor the file. */
const requireFiles = (url: string) => {
  const options = new URLSearchParams(/\?(.*)/.exec(url)?.[1])
  for (const name of ['tlsCAFile', 'userCertFile', 'userKeyFile']) {
    const file = options.get(name)
    if (file === null) continue
    try {
      accessSync(file, constants.R_OK)
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      throw new OperatorError(`EVENTSTORE_URL: the file ${file} of ${name} cannot be read (${code})`, { cause })
    }
  }
}

/** `connectivityState.SHUTDOWN` of grpc-js, which the client depends on, not we */
const shutDown = 4

/**
 * The client appends in a promise whose executor is asynchronous: what it throws on a closed channel would end the
 * process.
 */
const ifOpen =
  (action: Action): Action =>
  (connection) => {
    if (connection.getChannel().getConnectivityState(false) === shutDown)
      throw new ConnectionClosed('the connection was closed before the call began')
    return action(connection)
  }

const open = (url: string) => {
  const client = library().EventStoreDBClient.connectionString(url)
  const internals = client as unknown as Internals
  const { handleError, execute, GRPCStreamCreator } = internals
  // the client looks for another server here without awaiting the result: an unhandled rejection would end the process
  internals.handleError = (...args) => handleError(...args).catch(() => {})
  // a channel is closed by us and by the client, also while calls wait for it: each call looks in the turn in which it
  // begins
  internals.execute = (service, name, action) => execute(service, name, ifOpen(action))
  internals.GRPCStreamCreator = (service, name, action, cache) =>
    GRPCStreamCreator(service, name, ifOpen(action), cache)
  return client
}

const closeChannel = async (client: EventStoreDBClient) => {
  const { getChannel } = client as unknown as Internals
  await getChannel().then(
    (channel) => channel.close(),
    () => {},
  )
}
