import { type Miss, type Misses, missKinds, otherPath } from '../lib/misses.ts'
import type { Database } from './database.ts'

/** days that they are kept */
const keptDays = 90
/** rows of an account, a host and a day; each kind has one more, for all other paths */
const mostPaths = 1000 - missKinds.length
/** misses of different addresses that a process counts before it writes */
const mostWaiting = 10_000
/** One process writes at a time, so that the limit holds. */
const writeLock = 7275472

interface Counted extends Omit<Miss, 'byPerson'> {
  readonly day: string
  count: number
  people: number
}

const store = (db: Database, rows: readonly Counted[]) =>
  db.transaction(async (tx) => {
    await tx.raw('select pg_advisory_xact_lock(?)', [writeLock])
    const column = <K extends keyof Counted>(name: K) => rows.map((row) => row[name])
    await tx.raw(
      `with given as (
         select * from unnest(?::bigint[], ?::date[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[])
           as g (account, day, host, path, kind, count, people)),
       kept as (
         select g.*, g.path = '${otherPath}' or exists (
           select from state.misses m where (m.account, m.day, m.host, m.path, m.kind) = (g.account, g.day, g.host, g.path, g.kind)) as has_row,
           (select count(*) from state.misses m where (m.account, m.day, m.host) = (g.account, g.day, g.host) and m.path <> '${otherPath}') as rows
         from given g),
       placed as (
         select *, has_row or rows + row_number() over (partition by account, day, host, has_row order by people desc, count desc, path) <= ${mostPaths} as fits
         from kept)
       insert into state.misses as m (account, day, host, path, kind, count, people)
       select account, day, host, case when fits then path else '${otherPath}' end as place, kind, sum(count), sum(people)
       from placed group by account, day, host, place, kind
       on conflict (account, day, host, path, kind) do update
         set count = m.count + excluded.count, people = m.people + excluded.people`,
      [
        column('account'),
        column('day'),
        column('host'),
        column('path'),
        column('kind'),
        column('count'),
        column('people'),
      ],
    )
  })

const dayAt = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** Counts addresses that lead nowhere in memory. */
export const openMisses = (db: Database, now: () => number): Misses => {
  let waiting = new Map<string, Counted>()
  const add = (row: Counted): void => {
    const { account, day, host, path, kind } = row
    const key = [account, day, host, kind, path].join('\n')
    const known = waiting.get(key)
    if (!known && waiting.size >= mostWaiting && path !== otherPath) return add({ ...row, path: otherPath })
    if (!known) return void waiting.set(key, row)
    known.count += row.count
    known.people += row.people
  }
  return {
    note: ({ byPerson, ...miss }) => add({ ...miss, day: dayAt(now()), count: 1, people: byPerson ? 1 : 0 }),
    write: async () => {
      if (waiting.size === 0) return
      const rows = [...waiting.values()]
      waiting = new Map()
      try {
        await store(db, rows)
      } catch (error) {
        rows.forEach(add)
        throw error
      }
    },
  }
}

/** Deletes misses that are no longer kept, and those of accounts whose key was destroyed. */
export const deleteOldMisses = async (db: Database): Promise<void> => {
  await db.raw(
    `delete from state.misses m where day < (now() at time zone 'UTC')::date - ${keptDays}
     or exists (select from state.destroyed_keys d where d.name = 'account-' || m.account)`,
  )
}
