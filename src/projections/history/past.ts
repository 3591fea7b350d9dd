import type { Knex } from 'knex'
import type { Recorded } from '../../events/event.ts'
import type { DomainEvent } from '../../events/index.ts'
import { parseStreamId } from '../../events/streams.ts'
import {
  type ChangesOf,
  type HandledProjection,
  type Projection,
  type TableNames,
  type WrittenProjection,
} from '../engine/projection.ts'
import { type Dated, pastOf, type Versioned, writeVersions } from './versions.ts'

/** Tables that no answer about an account is made of. */
const unread: readonly string[] = ['blocks', 'qr_logos', 'reports']

/** The setting of a transaction that says up to which position of the log its views show the tables. */
export const domainPosition = 'linkledger.domain'
const at = `current_setting('${domainPosition}')::bigint`

/** Returns the name of the view that shows a table as it was, by the physical name of the table that it reads. */
export const viewOf = (name: string): string => `${name}_at`

/** Returns the columns of a table's primary key, as its DDL has them. */
export const keyOf = (ddl: string): readonly string[] => {
  const [, list, column] = /primary key \(([^)]+)\)|\b(\w+) \w+ primary key/.exec(ddl) ?? []
  const key = (list ?? column)?.split(',').map((name) => name.trim())
  if (!key) throw new Error(`a table without a primary key has no versions: ${ddl}`)
  return key
}

/**
 * Numbers that go up and down with each change of an account: they have so many versions that the one in force is
 * looked up by its key.
 */
const isCounter = (table: string) => table.endsWith('_counts')

/** Returns the columns of a counter, which its DDL has one after another. */
const columnsOf = (ddl: string) =>
  ddl
    .slice(ddl.indexOf('(') + 1, ddl.lastIndexOf(')'))
    .split(',')
    .flatMap((column) => column.trim().split(' ')[0] ?? [])

const counterView = (t: string, columns: readonly string[], key: readonly string[]) => `
  alter table ${t} add column first boolean;
  create index on ${t} (${key.join()}) where first;
  create view ${viewOf(t)} as
    select ${columns.map((name) => `${key.includes(name) ? 'k' : 'v'}.${name}`).join()} from ${t} k
    cross join lateral (
      select * from ${t} v where ${key.map((name) => `v.${name} = k.${name}`).join(' and ')} and v.since <= ${at}
      order by v.since desc limit 1
    ) v
    where k.first and v.until > ${at}`

/**
 * Returns the DDL of the versions of a table: its own, so that every query finds the indexes that it has on the table
 * itself, with the positions between which a version was in force. `since` is that of the event that made it, `until`
 * that of the event that ended it.
 */
const versionsOf =
  (table: string, ddl: (name: string) => string) =>
  (t: string): string => {
    const key = keyOf(ddl(t))
    return `
      ${ddl(t)};
      alter table ${t} drop constraint ${t.split('.').at(-1)}_pkey;
      alter table ${t} add column since bigint not null, add column until bigint not null, add primary key (${key.join()}, since);
      alter table ${t} set (fillfactor = 90);
      ${
        isCounter(table)
          ? counterView(t, columnsOf(ddl(t)), key)
          : `create view ${viewOf(t)} as select * from ${t} where since <= ${at} and until > ${at}`
      }`
  }

const changesByTable = (
  of: readonly HandledProjection[],
  keys: ReadonlyMap<string, readonly string[]>,
  events: readonly Recorded<DomainEvent>[],
  changesOf: ChangesOf,
): readonly Versioned[] => {
  const tables = new Map<string, Dated[]>()
  for (const event of events)
    for (const change of of.flatMap((projection) => changesOf(projection, event))) {
      if (!keys.has(change.table)) continue
      const own = tables.get(change.table) ?? []
      tables.set(change.table, own)
      own.push({ position: event.position, change })
    }
  return [...tables].map(([name, changes]) => ({ name, changes, key: keys.get(name)! }))
}

/** Deletes what was kept of accounts: nothing of them can be asked for any more, and some of it names people. */
const forget = async (tx: Knex, names: TableNames, owned: ReadonlyMap<string, string>, accounts: readonly number[]) => {
  for (const [table, column] of owned)
    await tx.raw(`delete from ${names(pastOf(table))} where ${column} = any(?::bigint[])`, [`{${accounts.join()}}`])
}

/** Takes what visitors entered out of all versions of erased answers: `at` must not show it, either. */
const forgetAnswers = (tx: Knex, names: TableNames, erased: readonly Recorded<DomainEvent>[]) =>
  tx.raw(
    `update ${names(pastOf('answers'))} v set fields = null, erased = n.erased
     from unnest(?::text[], ?::timestamptz[]) as n (answer, erased) where v.answer = n.answer`,
    [erased.map(({ stream }) => parseStreamId(stream).id), erased.map(({ at }) => at)],
  )

/** What has versions: the projections that make the rows, and the keys and owners of their tables. */
const kept = (all: readonly Projection[]) => {
  const of = all.filter((one): one is HandledProjection => 'on' in one && one.filter === 'domain')
  const tables = of.flatMap((one) => Object.entries(one.tables).filter(([name]) => !unread.includes(name)))
  const ddls = tables.map(([name, ddl]) => [name, ddl('t')] as const)
  const ownerOf = (name: string, ddl: string) =>
    name === 'accounts' ? 'id' : /[ (]account bigint/.test(ddl) ? 'account' : undefined
  return {
    of,
    tables,
    keys: new Map(ddls.map(([name, ddl]) => [name, keyOf(ddl)])),
    owners: new Map(
      ddls.flatMap(([name, ddl]) => {
        const owner = ownerOf(name, ddl)
        return owner === undefined ? [] : [[name, owner] as const]
      }),
    ),
  }
}

/**
 * Versions of the rows of tables: each is as its table had it from one position of the log up to another. They are
 * written by the handlers of the tables themselves, event by event. See docs/adr/0052-versions-of-rows.md.
 */
const projectionOf = ({ of, tables, keys, owners }: ReturnType<typeof kept>): WrittenProjection => ({
  name: 'past',
  // it changes with each of the tables that it has versions of
  version: of.reduce((sum, { version }) => sum + version, 1000),
  filter: 'domain',
  optional: true,
  indexedLast: of.flatMap(({ indexedLast = [] }) => indexedLast.map(pastOf)),
  tables: Object.fromEntries(tables.map(([name, ddl]) => [pastOf(name), versionsOf(name, ddl)])),
  write: async (tx, names, events, changesOf) => {
    const erased = events.flatMap((event) => (event.type === 'AccountErased' ? [event.data.id] : []))
    const answers = events.filter(({ type }) => type === 'AnswerErased')
    const others = events.filter(({ type }) => type !== 'AccountErased' && type !== 'AnswerErased')
    await writeVersions(tx, names, changesByTable(of, keys, others, changesOf))
    if (answers.length > 0) await forgetAnswers(tx, names, answers)
    if (erased.length > 0) await forget(tx, names, owners, erased)
  },
})

/** Returns the projection of the versions of all rows that the given projections make. */
export const createPast = (all: readonly Projection[]): WrittenProjection => projectionOf(kept(all))
