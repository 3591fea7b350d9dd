import { type Credentials, EventStoreDBClient } from '@eventstore/db-client'

/** Members of the client that its types do not declare. */
interface Internals {
  handleError: (...args: readonly unknown[]) => Promise<void>
  readonly getChannel: () => Promise<{ readonly close: () => void }>
}

export interface Clients {
  /** host:port, without the credentials, for messages */
  readonly address: string
  readonly credentials: Credentials
  readonly current: () => EventStoreDBClient
  /**
   * Replaces a client that does not answer; calls that are under way on it continue there. Does nothing when another caller has replaced it
   * already, or when the current client is younger than 2 s.
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

  let client = open(url)
  let openedAt = Date.now()
  return {
    address,
    credentials,
    current: () => client,
    replace: (stuck) => {
      if (stuck !== client || Date.now() - openedAt < minimumAge) return
      client = open(url)
      openedAt = Date.now()
      void closeChannel(stuck)
    },
    close: async () => {
      // not awaited: it waits for the end of streams that have already ended
      void client.dispose()
      await closeChannel(client)
    },
  }
}

const open = (url: string) => {
  const client = EventStoreDBClient.connectionString(url)
  const internals = client as unknown as Internals
  const { handleError } = internals
  // the client looks for another server here without awaiting the result: an unhandled rejection would end the process
  internals.handleError = (...args) => handleError(...args).catch(() => {})
  return client
}

const closeChannel = async (client: EventStoreDBClient) => {
  const { getChannel } = client as unknown as Internals
  await getChannel().then(
    (channel) => channel.close(),
    () => {},
  )
}
