import type { Recorded } from '../events/event.ts'
import type { LogEvent } from '../events/index.ts'
import type { EventStore } from '../events/store.ts'
import type { Database } from '../postgres/database.ts'
import { migrationLock } from '../postgres/migrate.ts'

/** How far the events of a log are numbered. */
interface Progress {
  /** ordinal of the next event */
  readonly next: number
  /** of the last event, 0n when there is none */
  readonly position: bigint
  /** the clock of the log: the latest time of an event so far */
  readonly at: string
}
const nothing: Progress = { next: 0, position: 0n, at: '' }

interface Checkpoint {
  readonly log_id: string
  readonly next: string
  /** a string, as the driver returns a bigint */
  readonly position: string
  readonly event_id: string
  readonly at: Date
}
const checkpoint = 'read.numbering'

/** Creates the tables in which the events of a log with gaps between its positions are numbered. */
export const ensureNumbering = (db: Database) =>
  db.raw(`
    select pg_advisory_xact_lock(${migrationLock});
    create table if not exists read.ordinals (ordinal bigint primary key, position bigint not null unique, at timestamptz not null);
    create table if not exists ${checkpoint} (
      only_row bool primary key default true, log_id uuid not null, next bigint not null, position bigint not null, event_id uuid not null,
      at timestamptz not null)`)

type Log = Pick<EventStore, 'logId' | 'idAt' | 'subscribe'>

/** Returns how far the log is numbered. What was numbered in another log, or in more of this one, is dropped. */
const begin = async (db: Database, store: Log): Promise<Progress> => {
  const [row] = await db<Checkpoint>(checkpoint).select()
  if (!row) return nothing
  const position = BigInt(row.position)
  if (row.log_id === store.logId && (await store.idAt(position)) === row.event_id)
    return { next: Number(row.next), position, at: row.at.toISOString() }
  await db.raw(`truncate read.ordinals, ${checkpoint}`)
  return nothing
}

/** Numbers the next events. The checkpoint moves in the same transaction, unless another process has moved it. */
const number = (
  db: Database,
  logId: string,
  before: Progress,
  events: readonly Recorded<LogEvent>[],
): Promise<Progress> =>
  db.transaction(async (tx) => {
    let { at } = before
    const times = events.map((event) => (at = event.at > at ? event.at : at))
    const last = events.at(-1)!
    const next = before.next + events.length
    const { rows } = await tx.raw<{ rows: unknown[] }>(
      `insert into ${checkpoint} as c (log_id, next, position, event_id, at) values (?, ?, ?, ?, ?)
       on conflict (only_row) do update set
         log_id = excluded.log_id, next = excluded.next, position = excluded.position, event_id = excluded.event_id, at = excluded.at
       where c.next = ? returning 1`,
      [logId, next, last.position.toString(), last.id, at, before.next],
    )
    if (rows.length === 0) throw new Error('another process numbers the events of this log')
    await tx.raw(
      `insert into read.ordinals (ordinal, position, at)
       select ? + n - 1, position, at from unnest(?::bigint[], ?::timestamptz[]) with ordinality as e (position, at, n)`,
      [before.next, events.map(({ position }) => position.toString()), times],
    )
    return { next, position: last.position, at }
  })

/**
 * Numbers the events of a log in its order, those that it has and those that follow, until the signal aborts. Calls
 * `onNumbered` when it knows the log, and after each batch.
 */
export const numberEvents = async (
  db: Database,
  store: Log,
  signal: AbortSignal,
  onNumbered: () => void = () => {},
): Promise<void> => {
  let progress = await begin(db, store)
  onNumbered()
  for await (const events of store.subscribe({ after: progress.position, filter: 'all', limit: 2000, signal })) {
    progress = await number(db, store.logId, progress, events)
    onNumbered()
  }
}
