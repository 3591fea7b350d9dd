import type { Recorded } from '../events/event.ts'
import type { OwnedEvent } from '../events/owned.ts'
import { add, type Change, patch, put, type Row } from './projection.ts'

type Handler = (event: Recorded<OwnedEvent<string, object>>) => readonly Change[]
type Of<N extends string, S extends string> = (
  event: Recorded<Extract<OwnedEvent<N, object>, { type: `${N}${S}` }>>,
) => readonly Change[]

const rowOf = (fields: object): Row =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/**
 * Table of a resource that an account makes, changes and deletes, and the number of each account's. A deleted one's row stays: who remembers it
 * learns of its end by its `position`, and what it is a member of comes back with it. `columns` is the DDL of its own fields,
 * `indexed` what it is also found by.
 */
export const ownedTables = <T extends string>(table: T, columns: string, ...indexed: readonly string[]) =>
  ({
    [table]: (t: string) => `
      create table ${t} (
        id bigint primary key, account bigint not null, ${columns},
        created timestamptz not null, deleted timestamptz, position bigint not null);
      create index on ${t} (account, id) where deleted is null;
      create index on ${t} (position)${indexed.map((by) => `; create index on ${t} (${by})`).join('')}`,
    [`${table}_counts`]: (t: string) => `create table ${t} (account bigint primary key, n bigint not null)`,
  }) as Readonly<Record<T | `${T}_counts`, (name: string) => string>>

/** Handlers that keep such a table; columns are named as the fields of the events, unless `columns` says otherwise. */
export const ownedHandlers = <N extends string>(noun: N, table: string, columns: (fields: object) => Row = rowOf) => {
  const counted = (account: number, n: number) => add(`${table}_counts`, { account }, { n })
  const created: Of<N, 'Created'> = ({ data, at, position }) => {
    const { id, account, token: _, ...fields } = data as { id: number; account: number; token?: string }
    return [
      put(table, { id }, { account, ...columns(fields), created: at, deleted: null, position }),
      counted(account, 1),
    ]
  }
  const updated: Of<N, 'Updated'> = ({ data, position }) => {
    const { id, token: _, changes, ...personal } = data as { id: number; token?: string; changes: object }
    return [patch(table, { id }, { ...columns({ ...changes, ...personal }), position })]
  }
  const deleted: Of<N, 'Deleted'> = ({ data, metadata: { account }, at, position }) => {
    const { id } = data as { id: number }
    return [patch(table, { id }, { deleted: at, position }), counted(account ?? 0, -1)]
  }
  return {
    [`${noun}Created`]: created,
    [`${noun}Updated`]: updated,
    [`${noun}Deleted`]: deleted,
  } as unknown as Readonly<Record<`${N}${'Created' | 'Updated' | 'Deleted'}`, Handler>>
}
