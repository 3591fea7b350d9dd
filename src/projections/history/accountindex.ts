import type { Knex } from 'knex'
import { prepared } from '../../postgres/database.ts'
import { column } from '../engine/columns.ts'

/** An event of an account, and where it is in the log. */
export interface AccountEntry {
  readonly account: number
  readonly position: bigint
  readonly stream: string
  readonly revision: bigint
}

/**
 * DDL of a table that finds an account's events in log order, however many events others have. The second index says
 * whose events are new. `more` is the DDL of further columns.
 */
export const accountIndex = (t: string, more?: string) => `
  create table ${t} (
    account bigint, position bigint, stream text collate "C" not null, revision bigint not null${more === undefined ? '' : `, ${more}`}, primary key (account, position));
  create index on ${t} (position)`

/** A further column: its type, and its value. */
type Column<E> = readonly [
  type: 'bigint' | 'uuid' | 'boolean',
  of: (entry: E) => number | bigint | string | boolean | null,
]

/** Inserts the entries of a batch of events; `more` has further columns. */
export const insertEntries = async <E extends AccountEntry>(
  tx: Knex,
  table: string,
  entries: readonly E[],
  more: Readonly<Record<string, Column<E>>> = {},
) => {
  if (entries.length === 0) return
  const columns = { account: 'bigint', position: 'bigint', stream: 'text', revision: 'bigint' }
  const types = { ...columns, ...Object.fromEntries(Object.entries(more).map(([name, [type]]) => [name, type])) }
  const sql = `insert into ${table} (${Object.keys(types).join(', ')})
    select * from unnest(${Object.values(types)
      .map((type) => `?::${type}[]`)
      .join(', ')})`
  await tx
    .raw(sql, [
      column(entries, ({ account }) => account),
      column(entries, ({ position }) => position),
      entries.map(({ stream }) => stream),
      column(entries, ({ revision }) => revision),
      ...Object.values(more).map(([, of]) => column(entries, (entry) => String(of(entry)))),
    ])
    .options(prepared(sql))
}
