import type { Click } from '../../src/events/statistics/click.ts'
import { codec } from '../../src/events/codec.ts'
import type { New } from '../../src/events/event.ts'
import type { DomainEvent } from '../../src/events/index.ts'
import { createSignal } from '../../src/lib/async/signal.ts'
import { postgresStore } from '../../src/store/postgres.ts'
import { type Database, openDatabase, openPool } from '../../src/postgres/database.ts'
import type { Projection } from '../../src/projections/engine/projection.ts'
import { type Checkpoint, checkpoints, tableNames } from '../../src/projections/engine/tables.ts'
import { migratedDatabase } from './database.ts'
import { at, click, clicked, fresh, linkCreated } from './events.ts'
import { memoryKeyring } from './keyring.ts'
import { eventsOf } from './writer.ts'

/** An event to append to a stream. */
export interface Entry {
  readonly stream: string
  readonly event: New<DomainEvent>
}

/** Opens a log and read tables on a database of their own, without a service. */
export const openTestLog = async () => {
  const connection = await migratedDatabase()
  const options = { max: 6, timeout: 30_000, timeoutMs: 20_000, onError: () => {} }
  const db = openDatabase(connection, { name: 'spec', ...options })
  const pool = openPool(connection, { name: 'spec', ...options })
  const store = await postgresStore(pool, codec(memoryKeyring()), createSignal())
  const others: Database[] = []
  const ends = new Map<string, bigint>()

  return {
    connection,
    db,
    store,
    /** Opens more connections under another name. */
    connect: (name: string) => {
      const other = openDatabase(connection, { name, ...options })
      others.push(other)
      return other
    },
    /** Appends events to the ends of their streams, `size` at a time. */
    append: async (entries: readonly Entry[], size = 250) => {
      for (let from = 0; from < entries.length; from += size) {
        const writes = new Map<string, New<DomainEvent>[]>()
        for (const { stream, event } of entries.slice(from, from + size))
          writes.set(stream, [...(writes.get(stream) ?? []), event])
        const appended = await store.append(
          [...writes].map(([stream, events]) => ({ stream, expected: ends.get(stream) ?? 'no_stream', events })),
        )
        if (!appended.ok) throw new Error(`${appended.stream} is at ${appended.actual}`)
        for (const [stream, events] of writes) ends.set(stream, (ends.get(stream) ?? -1n) + BigInt(events.length))
      }
    },
    events: () => eventsOf(store),
    close: async () => {
      for (const other of others) await other.destroy()
      await db.destroy()
      await pool.end()
    },
  }
}
export type TestLog = Awaited<ReturnType<typeof openTestLog>>

export const checkpointsOf = (db: Database, { name }: Projection) =>
  db<Checkpoint>(checkpoints).where({ projection: name }).orderBy('generation')
export const liveCheckpoint = async (db: Database, projection: Projection) =>
  (await checkpointsOf(db, projection)).findLast(({ live }) => live)

/** Returns every row of a projection's tables as text, by table: of the live generation, or of the given one. */
export const dump = async (db: Database, projection: Projection, generation?: number) => {
  const named = tableNames(projection, generation ?? (await liveCheckpoint(db, projection))?.generation ?? 0)
  const rows = async (table: string) =>
    (await db.raw<{ rows: { row: string }[] }>(`select t::text as row from ${named(table)} t order by 1`)).rows
  const tables = Object.keys(projection.tables)
  return Object.fromEntries(
    await Promise.all(tables.map(async (table) => [table, (await rows(table)).map(({ row }) => row)] as const)),
  )
}

type Random = (below: number) => number
const pick = <T>(random: Random, items: readonly T[]) => items[random(items.length)]!

/** Some come by an entry of a bio page, some by a QR code of their account. */
const randomSource = (random: Random, account: number): Pick<Click, 'source'> | undefined => {
  const by = random(4)
  if (by === 0) return { source: { kind: 'bio', id: 1 + random(3), entry: 1 + random(4) } }
  return by === 1 ? { source: { kind: 'qr', id: account } } : undefined
}

export const randomClick = (random: Random, links: number): Click => {
  const link = 1 + random(links)
  const account = 1 + (link % 5)
  return click({
    link,
    account,
    ...randomSource(random, account),
    at: at(random(86_400)),
    visitor: pick(random, ['1', 'ab', 'ffffffffffffffff', '8000000000000000', '7fffffffffffffff', 'c0ffee']),
    class: pick(random, ['human', 'human', 'human', 'bot', 'preview', 'prefetch']),
    country: pick(random, ['', 'CA', 'DE', 'FR']),
    referrer: pick(random, ['', 'twitter.com', 'example.com', 'CA']),
    // clicks of older releases have none
    ...pick(random, [{}, { medium: 'social' }, { medium: 'direct' }]),
    browser: { family: pick(random, ['Firefox', 'Chrome', '']), version: String(random(200)) },
    os: { family: pick(random, ['Linux', 'Windows', '']), version: '' },
    device: pick(random, ['desktop', 'mobile']),
    language: pick(random, ['', 'fr', 'de']),
  })
}

/** Returns `count` events as accounts, links and visitors could cause them, with ids from `from` on. */
export const history = (random: Random, count: number, from = 0): Entry[] => {
  const entries: Entry[] = []
  const links: { id: number; account: number }[] = []
  const put = (stream: string, account: number | null, event: DomainEvent) =>
    entries.push({ stream, event: fresh(event, account, at(from + entries.length)) })
  let last = from
  while (entries.length < count) {
    const id = ++last
    const dice = random(100)
    const link = links.length > 0 ? pick(random, links) : undefined
    if (dice < 5) {
      const personal = { email: `u${id}@example.com`, username: `u${id}`, password: 'scrypt' }
      put(`account-${id}`, id, {
        type: 'AccountRegistered',
        data: { id, ...personal, emailToken: 'e', usernameToken: 'u' },
      })
      put(`account-${id}`, id, { type: 'ApiKeyIssued', data: { id, key: `k${id}`, hash: 'h', expires: null } })
    } else if (dice < 30 || !link) {
      const account = 1 + random(5)
      links.push({ id, account })
      put(`link-${id}`, account, linkCreated({ id, account, alias: `a-${id}`, title: pick(random, ['', 'é "x" ?']) }))
    } else if (dice < 55) {
      const changes = pick(random, [
        { title: `t${id}` },
        { url: `https://example.com/${id}`, expiry: at(id) },
        { location: [] },
      ])
      put(`link-${link.id}`, link.account, { type: 'LinkUpdated', data: { id: link.id, changes } })
    } else if (dice < 60) {
      links.splice(links.indexOf(link), 1)
      put(`link-${link.id}`, link.account, { type: 'LinkDeleted', data: { id: link.id } })
    } else {
      const clicks = Array.from({ length: 1 + random(4) }, () => randomClick(random, 40))
      put('clicks-local-0', null, clicked(...clicks))
    }
  }
  return entries
}
