import type { Knex } from 'knex'
import type { Recorded } from '../events/event.ts'
import type { DomainEvent, Event, EventType } from '../events/index.ts'
import type { Filter } from '../events/store.ts'
import { prepared } from '../postgres/database.ts'

type Value = string | number | boolean | bigint | null | readonly unknown[] | object
export type Row = Readonly<Record<string, Value>>

/** A change of one row of a table, identified by its key columns. */
export type Change = { readonly table: string; readonly key: Row } & (
  | { readonly op: 'put'; readonly row: Row }
  | { readonly op: 'patch'; readonly row: Row }
  | { readonly op: 'add'; readonly row: Readonly<Record<string, number>> }
  | { readonly op: 'remove' }
)

/** Replaces the row, or inserts it. */
export const put = (table: string, key: Row, row: Row): Change => ({ table, key, op: 'put', row })
/** Updates these columns of the row if it exists; if the key is only a part of the table's key, of all rows that match it. */
export const patch = (table: string, key: Row, row: Row): Change => ({ table, key, op: 'patch', row })
/** Adds these numbers to the columns of the row, which start at zero. */
export const add = (table: string, key: Row, row: Readonly<Record<string, number>>): Change => ({
  table,
  key,
  op: 'add',
  row,
})
/** Deletes the row if it exists; if the key is only a part of the table's key, all rows that match it. */
export const remove = (table: string, key: Row): Change => ({ table, key, op: 'remove' })

type Handlers = { readonly [T in EventType]?: (event: Recorded<Event<T>>) => readonly Change[] }
/** Returns the physical name of a table by its name in the code. */
export type TableNames = (table: string) => string

interface Base {
  readonly name: string
  /** Goes up whenever tables or handlers change: new tables are then filled next to the old ones. */
  readonly version: number
  readonly filter: Filter
  /** Return the DDL of each table, given its physical name. */
  readonly tables: Readonly<Record<string, (name: string) => string>>
}
/** A projection whose handlers are pure functions from an event to changes; the projector writes the changes of a batch set by set. */
export interface HandledProjection extends Base {
  readonly on: Handlers
}
/** A projection whose rows depend on existing rows: it writes a batch itself, inside the projector's transaction. */
export interface WrittenProjection extends Base {
  readonly write: (tx: Knex, names: TableNames, events: readonly Recorded<DomainEvent>[]) => Promise<void>
}
export type Projection = HandledProjection | WrittenProjection

/** Returns the changes that an event makes; none if the projection does not handle its type. */
export const changesOf = ({ on }: HandledProjection, event: Recorded<DomainEvent>): readonly Change[] => {
  const handle = on[event.type] as ((event: Recorded<DomainEvent>) => readonly Change[]) | undefined
  return handle ? handle(event) : []
}

/** Merges changes in order, so that each row has at most one. */
export const coalesce = (changes: readonly Change[]): Change[] => {
  const rows = new Map<string, Change>()
  for (const change of changes) {
    const at = json([change.table, Object.entries(change.key).sort(([a], [b]) => (a < b ? -1 : 1))])
    const before = rows.get(at)
    const after = before ? combine(before, change) : change
    // a row that changes again moves to the end, so that the statements keep the order of the events
    rows.delete(at)
    rows.set(at, after)
  }
  return [...rows.values()]
}

const sum = (a: Row, b: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(
    [...new Set([...Object.keys(a), ...Object.keys(b)])].map((k) => [k, Number(a[k] ?? 0) + (b[k] ?? 0)]),
  )

const combine = (before: Change, after: Change): Change => {
  switch (after.op) {
    case 'put':
    case 'remove':
      return after
    case 'patch':
      if (before.op === 'remove') return before
      if (before.op === 'add') throw new Error(`${after.table}: cannot patch a row that was added to in the same batch`)
      return { ...before, row: { ...before.row, ...after.row } }
    case 'add':
      if (before.op === 'put')
        return { ...before, row: { ...before.row, ...sum(pick(before.row, after.row), after.row) } }
      if (before.op === 'add') return { ...before, row: sum(before.row, after.row) }
      if (before.op === 'remove') return { ...after, op: 'put' }
      throw new Error(`${after.table}: cannot add to a row that was patched in the same batch`)
  }
}
const pick = (row: Row, like: Row): Row => Object.fromEntries(Object.keys(like).map((k) => [k, row[k] ?? 0]))

const json = (value: readonly unknown[]) =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? part.toString() : part))

/** Groups changes that fit one statement: the same table, operation, key columns and columns. */
const groupByStatement = (changes: readonly Change[]) => {
  const groups = new Map<string, Change[]>()
  for (const change of changes) {
    const columns = [change.key, 'row' in change ? change.row : {}].map((row) => Object.keys(row).sort())
    const at = JSON.stringify([change.table, change.op, columns])
    const group = groups.get(at)
    if (group) group.push(change)
    else groups.set(at, [change])
  }
  return [...groups.values()]
}

/**
 * Splits changes where they address a table by other key columns than before. Within a part each row has one key, so that merging and
 * grouping keep the result; across parts the same row may be meant, as by an erasure of all rows of an account, and the order counts.
 */
export const splitByKeys = (changes: readonly Change[]): readonly (readonly Change[])[] => {
  const parts: Change[][] = []
  let keys = new Map<string, string>()
  for (const change of changes) {
    const columns = Object.keys(change.key).sort().join()
    if (parts.length === 0 || (keys.get(change.table) ?? columns) !== columns) {
      parts.push([])
      keys = new Map()
    }
    parts.at(-1)?.push(change)
    keys.set(change.table, columns)
  }
  return parts
}

/** Writes changes in the order of their events, with one statement per table, operation and set of columns where the order allows it. */
export const writeChanges = async (tx: Knex, names: TableNames, changes: readonly Change[]) => {
  for (const part of splitByKeys(changes)) await writePart(tx, names, part)
}

const writePart = async (tx: Knex, names: TableNames, changes: readonly Change[]) => {
  for (const set of groupByStatement(coalesce(changes))) {
    const [first] = set
    if (!first) continue
    const table = names(first.table)
    const keys = Object.keys(first.key)
    const columns = 'row' in first ? Object.keys(first.row) : []
    const rows = json(set.map((change) => ({ ...change.key, ...('row' in change ? change.row : {}) })))
    const list = (items: readonly string[], text: (name: string) => string, by = ', ') => items.map(text).join(by)
    const q = (name: string) => `"${name}"`
    const source = `json_populate_recordset(null::${table}, ?::json) as n`
    const match = list(keys, (k) => `t.${q(k)} = n.${q(k)}`, ' and ')
    const insert = `insert into ${table} as t (${list([...keys, ...columns], q)}) select ${list([...keys, ...columns], (k) => `n.${q(k)}`)} from ${source}`
    const clear = `delete from ${table} as t using ${source} where ${match}`
    switch (first.op) {
      case 'put': {
        const fresh = `${insert} on conflict (${list(keys, q)}) do nothing`
        const added = await tx.raw<{ rowCount: number }>(fresh, [rows]).options(prepared(fresh))
        if (added.rowCount === set.length) break
        // delete first, so that no value of another column survives: a put gives the same row as a remove and a put
        await tx.raw(clear, [rows])
        await tx.raw(insert, [rows])
        break
      }
      case 'add': {
        const sum = `${insert} on conflict (${list(keys, q)}) do update set ${list(columns, (c) => `${q(c)} = coalesce(t.${q(c)}, 0) + excluded.${q(c)}`)}`
        await tx.raw(sum, [rows]).options(prepared(sum))
        break
      }
      case 'patch':
        await tx.raw(
          `update ${table} as t set ${list(columns, (c) => `${q(c)} = n.${q(c)}`)} from ${source} where ${match}`,
          [rows],
        )
        break
      case 'remove':
        await tx.raw(clear, [rows])
        break
    }
  }
}
