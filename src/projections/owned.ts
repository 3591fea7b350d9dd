import type { Recorded } from '../events/event.ts'
import type { Event } from '../events/index.ts'
import type { OwnedCreated, OwnedDeleted, OwnedRestored, OwnedUpdated } from '../events/owned.ts'
import { parseStreamId, type StreamKind } from '../events/streams.ts'
import { defined } from '../lib/defined.ts'
import { add, type Change, patch, put, remove } from './engine/projection.ts'
import type { Row } from './engine/row.ts'

/**
 * Returns the DDL of the table of a resource that an account creates, updates and deletes, and of the table that counts
 * each account's. A deleted resource keeps its row: processes that cached it learn of the deletion by its `position`,
 * and memberships come back when it is restored. `revision` is that of the resource's stream. `columns` is the DDL of
 * the resource's own fields, `indexed` lists further expressions to index.
 */
export const ownedTables = <T extends string>(table: T, columns: string, ...indexed: readonly string[]) =>
  ({
    [table]: (t: string) => `
      create table ${t} (
        id bigint primary key, account bigint not null, ${columns},
        created timestamptz not null, deleted timestamptz, revision bigint not null, position bigint not null);
      create index on ${t} (account, id) where deleted is null;
      create index on ${t} (position)${indexed.map((by) => `; create index on ${t} (${by})`).join('')}`,
    [`${table}_counts`]: (t: string) => `create table ${t} (account bigint primary key, n bigint not null)`,
  }) as Readonly<Record<T | `${T}_counts`, (name: string) => string>>

/**
 * Returns the handlers that maintain such a table. Columns are named after the events' fields, unless `columns` maps
 * them. Deletes all rows of an erased account: the row of the account invalidates cached ones.
 */
export const ownedHandlers = (
  table: string,
  columns: (fields: object) => Row = (fields) => ({ ...defined(fields) }),
) => {
  const count = (account: number, n: number) => add(`${table}_counts`, { account }, { n })
  return {
    created: ({ data, at, revision, position }: Recorded<OwnedCreated<string, object>>): readonly Change[] => {
      const { id, account, token: _, ...fields } = data
      return [
        put(table, { id }, { account, ...columns(fields), created: at, deleted: null, revision, position }),
        count(account, 1),
      ]
    },
    updated: ({ data, revision, position }: Recorded<OwnedUpdated<string, object>>): readonly Change[] => {
      const { id, token: _, changes, ...personal } = data
      return [patch(table, { id }, { ...columns({ ...changes, ...personal }), revision, position })]
    },
    deleted: ({
      data: { id },
      metadata: { account },
      at,
      revision,
      position,
    }: Recorded<OwnedDeleted<string>>): readonly Change[] => [
      patch(table, { id }, { deleted: at, revision, position }),
      count(account ?? 0, -1),
    ],
    restored: ({
      data,
      metadata: { account },
      revision,
      position,
    }: Recorded<OwnedRestored<string, object>>): readonly Change[] => {
      const { id, to: _, deleted, token: __, changes, ...personal } = data
      const row = { ...columns({ ...changes, ...personal }), deleted: null, revision, position }
      return [patch(table, { id }, row), ...(deleted ? [count(account ?? 0, 1)] : [])]
    },
    erased: ({ data: { id: account } }: Recorded<Event<'AccountErased'>>): readonly Change[] => [
      remove(table, { account }),
      remove(`${table}_counts`, { account }),
    ],
  }
}

/** Returns the handler of a fence in the streams of one kind: it changes only the revision, which clients compare. */
export const fenceHandler =
  (kind: StreamKind, table: string) =>
  ({ stream, revision }: Recorded<Event<'ClaimFenced'>>): readonly Change[] => {
    const of = parseStreamId(stream)
    return of.kind === kind ? [patch(table, { id: of.number }, { revision })] : []
  }
