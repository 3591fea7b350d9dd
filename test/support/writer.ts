import { randomUUID } from 'node:crypto'
import { account as accountDecider, type AccountCommand } from '../../src/commands/accounts/account.ts'
import { Refused } from '../../src/commands/decider.ts'
import { handler, type NextId } from '../../src/commands/handle.ts'
import type { Context } from '../../src/commands/context.ts'
import { link, type LinkCommand } from '../../src/commands/links/link.ts'
import { codec } from '../../src/events/codec.ts'
import type { Recorded } from '../../src/events/event.ts'
import type { DomainEvent, LogEvent } from '../../src/events/index.ts'
import type { LinkFields } from '../../src/events/links/link.ts'
import { type Appended, type EventStore, readToHead, type Write } from '../../src/events/store.ts'
import { isKnown } from '../../src/events/unknown.ts'
import { memoryStore } from './memorystore.ts'
import { at, linkFields } from './events.ts'
import { memoryKeyring } from './keyring.ts'

export const newMemoryStore = () => memoryStore(codec(memoryKeyring()))

/**
 * Returns a store without transactions, which carries out the writes of an append one by one. `between` runs between
 * two writes, and may throw.
 */
export const oneByOne = (
  store: EventStore,
  between: (done: Write, next: Write) => Promise<unknown> = () => Promise.resolve(),
): EventStore => ({
  ...store,
  append: async (writes) => {
    let appended: Appended = { ok: true, position: 0n }
    for (const [i, write] of writes.entries()) {
      if (i > 0) await between(writes[i - 1]!, write)
      appended = await store.append([write])
      if (!appended.ok) return appended
    }
    return appended
  },
})

/** Simulates the end of a process: nothing after it is executed. */
export class Killed extends Error {}

/** Returns ids from 1 on; `asked` holds the number that each id had to exceed. */
export const countingIds = (start = 1) => {
  const asked: (number | undefined)[] = []
  let last = start - 1
  const next: NextId = async (past) => {
    asked.push(past)
    last = Math.max(last, past ?? 0) + 1
    return last
  }
  return { next, asked }
}

const outcome = async <T>(result: Promise<T>) => {
  try {
    return await result
  } catch (error) {
    if (error instanceof Refused) return error
    throw error
  }
}

/**
 * Sends commands of accounts, each at a given second of the tests' day. Returns the `Refused` when a command is
 * refused.
 */
export const writer = (store: EventStore, ids: NextId = countingIds().next) => {
  const { handle, create, load } = handler(store)
  const context = (account: number, seconds: number, command: string = randomUUID()): Context => ({
    account,
    actor: { kind: 'key', key: 'k' },
    request: 'r',
    command,
    at: at(seconds),
  })
  type Options = { readonly seconds?: number; readonly command?: string; readonly token?: string }
  return {
    load,
    link: (id: number) => load(link, id),
    account: (id: number) => load(accountDecider, id),
    createLink: (
      account: number,
      fields: Partial<LinkFields> = {},
      { seconds = 0, command, token = randomUUID() }: Options = {},
    ) => {
      const own = context(account, seconds, command)
      const make = (id: number): LinkCommand => ({
        type: 'CreateLink',
        id,
        account,
        fields: { ...linkFields, ...fields },
        password: null,
        token,
        now: at(seconds),
      })
      return outcome(create(link, ids, make, () => own))
    },
    updateLink: (
      account: number,
      id: number,
      changes: Partial<LinkFields>,
      { seconds = 0, command, token = randomUUID() }: Options = {},
    ) =>
      outcome(
        handle(
          link,
          { type: 'UpdateLink', id, account, changes, token, now: at(seconds) },
          context(account, seconds, command),
        ),
      ),
    deleteLink: (account: number, id: number, seconds = 0) =>
      outcome(handle(link, { type: 'DeleteLink', id, account }, context(account, seconds))),
    register: (name: string, { seconds = 0, username = name } = {}) => {
      const own = context(0, seconds)
      const [emailToken, usernameToken] = [randomUUID(), randomUUID()]
      const make = (id: number): AccountCommand => ({
        type: 'RegisterAccount',
        id,
        email: `${name}@example.com`,
        emailKey: name,
        emailToken,
        username,
        usernameKey: username,
        usernameToken,
        password: 'scrypt',
        apiKey: { key: name, hash: 'h', expires: null },
      })
      return outcome(create(accountDecider, ids, make, (id) => ({ ...own, account: id })))
    },
    changeEmail: (id: number, name: string, seconds = 0) => {
      const email = { email: `${name}@example.com`, emailKey: name, emailToken: randomUUID() }
      return outcome(handle(accountDecider, { type: 'UpdateAccount', id, email }, context(id, seconds)))
    },
  }
}

/** Returns the whole log, or one stream of it, without what only a newer release can read. */
export const eventsOf = async (store: EventStore, stream?: string): Promise<Recorded<DomainEvent>[]> => {
  const events: Recorded<LogEvent>[] = []
  if (stream !== undefined) for await (const event of store.read(stream)) events.push(event)
  else for await (const batch of readToHead(store, { after: 0n, filter: 'all', limit: 1000 })) events.push(...batch)
  return events.filter(isKnown)
}
/** Returns `stream Type` of each event, in order. */
export const story = async (store: EventStore, stream?: string) =>
  (await eventsOf(store, stream)).map(({ stream: of, type }) => `${of} ${type}`)
