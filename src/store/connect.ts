import { type Credentials, EventStoreDBClient } from '@eventstore/db-client'

/** What the client keeps to itself. */
interface Inner {
  handleError: (...args: readonly unknown[]) => Promise<void>
  readonly getChannel: () => Promise<{ readonly close: () => void }>
}

export interface Connected {
  /** host:port, as it may be shown */
  readonly address: string
  readonly credentials: Credentials
  readonly client: () => EventStoreDBClient
  /** Takes a new client in the place of this one, which does not answer; what is under way on the old one goes on there. */
  readonly renew: (stuck: EventStoreDBClient) => void
  readonly close: () => Promise<void>
}

/** ms: the questions that wait for a dead server do not each open a connection. */
const shortestLife = 2000

/** Clients for an address that the settings have found to be good. */
export const connect = (url: string): Connected => {
  const [, user, password, address = ''] = /^esdb[^:]*:\/\/(?:([^:@/]+):([^@]*)@)?([^/?]+)/.exec(url) ?? []
  // where there is no TLS the client drops them
  const credentials = { username: decodeURIComponent(user ?? ''), password: decodeURIComponent(password ?? '') }

  const open = () => {
    const client = EventStoreDBClient.connectionString(url)
    const inner = client as unknown as Inner
    const { handleError } = inner
    // it looks for another server, and nobody awaits whether it finds one: a failure there would end the process
    inner.handleError = (...args) => handleError(...args).catch(() => {})
    return client
  }
  const shut = async (client: EventStoreDBClient) => {
    const { getChannel } = client as unknown as Inner
    await getChannel().then(
      (channel) => channel.close(),
      () => {},
    )
  }

  let client = open()
  let since = Date.now()
  return {
    address,
    credentials,
    client: () => client,
    renew: (stuck) => {
      if (stuck !== client || Date.now() - since < shortestLife) return
      client = open()
      since = Date.now()
      void shut(stuck)
    },
    close: async () => {
      // it waits for the end of streams that have ended before
      void client.dispose()
      await shut(client)
    },
  }
}
