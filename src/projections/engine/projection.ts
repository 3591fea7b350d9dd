import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import type { Recorded } from '../../events/event.ts'
import type { DomainEvent, Event, EventType } from '../../events/index.ts'
import type { Filter } from '../../events/store.ts'
import type { UnknownEvent } from '../../events/unknown.ts'
import { prepared } from '../../postgres/database.ts'
import { jsonOf, recordsOf, type Row } from './row.ts'

/** A change of one row of a table, identified by its key columns. */
export type Change = { readonly table: string; readonly key: Row } & (
  | { readonly op: 'put'; readonly row: Row }
  | { readonly op: 'patch'; readonly row: Row }
  | { readonly op: 'add'; readonly row: Readonly<Record<string, number>> }
  | { readonly op: 'remove' }
)

/** Replaces the row, or inserts it. */
export const put = (table: string, key: Row, row: Row): Change => ({ table, key, op: 'put', row })
/**
 * Updates these columns of the row if it exists; if the key is only a part of the table's key, of all rows that match
 * it.
 */
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
  /**
   * Tables whose indexes, apart from unique ones, only queries use. A fill creates them once the rows are there: to
   * keep them up to date row by row takes several times as long.
   */
  readonly indexedLast?: readonly string[]
  /** the service is ready without its tables, and fills them while the others go on */
  readonly optional?: true
  /** of its tables and their checkpoints; by default the schema that the service reads */
  readonly schema?: string
}
/**
 * A projection whose handlers are pure functions from an event to changes; the projector writes the changes of a batch
 * set by set.
 */
export interface HandledProjection extends Base {
  readonly on: Handlers
}
/**
 * A projection whose rows depend on existing rows: it writes a batch itself, inside the projector's transaction.
 * `changesOf` returns what other projections make of an event, as they write it.
 */
export interface WrittenProjection extends Base {
  readonly write: (
    tx: Knex,
    names: TableNames,
    events: readonly Recorded<DomainEvent>[],
    changesOf: ChangesOf,
  ) => Promise<void>
  /** Writes what only a newer release can read, for tables of where events are rather than what they say. */
  readonly writeUnknown?: (tx: Knex, names: TableNames, events: readonly Recorded<UnknownEvent>[]) => Promise<void>
}
export type Projection = HandledProjection | WrittenProjection

/** Returns the changes that an event makes; none if the projection does not handle its type. */
export const changesOf = ({ on }: Pick<HandledProjection, 'on'>, event: Recorded<DomainEvent>): readonly Change[] => {
  const handle = on[event.type] as ((event: Recorded<DomainEvent>) => readonly Change[]) | undefined
  return handle ? handle(event) : []
}
export type ChangesOf = typeof changesOf

/** Returns `changesOf` for the events of one batch, which calls each handler once for each of them. */
export const changesOfBatch = (): ChangesOf => {
  const made = new Map<Recorded<DomainEvent>, Map<Handlers, readonly Change[]>>()
  return (projection, event) => {
    const known = made.get(event)
    const changes = known?.get(projection.on) ?? changesOf(projection, event)
    if (known) known.set(projection.on, changes)
    else made.set(event, new Map([[projection.on, changes]]))
    return changes
  }
}

/** Returns a value of a key as text. */
export const keyText = (value: Row[string] | undefined) =>
  typeof value === 'object' ? JSON.stringify(value) : String(value)

/** Names a row by its key. */
const rowName = ({ table, key }: Change) => {
  const columns = Object.keys(key)
  if (columns.length > 1) columns.sort()
  let name = table
  for (const column of columns) name += `\0${column}\0${keyText(key[column])}`
  return name
}

/**
 * Merges the changes of each row in order, so that it has at most one. Changes of different rows can be written in any
 * order.
 */
export const coalesce = (changes: readonly Change[]): Change[] => {
  const rows = new Map<string, Change>()
  for (const change of changes) {
    const at = rowName(change)
    const before = rows.get(at)
    rows.set(at, before ? combine(before, change) : change)
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

/** Whether a row has these columns in this order. */
const hasColumns = (row: Row, columns: readonly string[]) => {
  let n = 0
  for (const column in row) if (column !== columns[n++]) return false
  return n === columns.length
}

interface Statement {
  readonly keys: readonly string[]
  readonly columns: readonly string[]
  readonly changes: Change[]
}
const rowOf = (change: Change): Row => ('row' in change ? change.row : {})

/** Groups changes that fit one statement: the same table, operation, key columns and columns. */
const groupByStatement = (changes: readonly Change[]) => {
  const statements = new Map<string, Statement>()
  // most rows of a table have the same columns: to name them all for each row takes long
  const latest = new Map<string, Statement>()
  for (const change of changes) {
    const [kind, row] = [`${change.table} ${change.op}`, rowOf(change)]
    const last = latest.get(kind)
    if (last && hasColumns(change.key, last.keys) && hasColumns(row, last.columns)) {
      last.changes.push(change)
      continue
    }
    const [keys, columns] = [Object.keys(change.key), Object.keys(row)]
    const at = `${kind} ${keys.join()} ${columns.join()}`
    const statement = statements.get(at) ?? { keys, columns, changes: [] }
    statements.set(at, statement)
    latest.set(kind, statement)
    statement.changes.push(change)
  }
  return [...statements.values()]
}

/**
 * Splits changes where they address a table by other key columns than before. Within a part each row has one key, so
 * that merging and grouping keep the result; across parts the same row may be meant, as by an erasure of all rows of an
 * account, and the order counts.
 */
export const splitByKeys = (changes: readonly Change[]): readonly (readonly Change[])[] => {
  const parts: Change[][] = []
  let keys = new Map<string, string>()
  for (const change of changes) {
    const names = Object.keys(change.key)
    const columns = names.length > 1 ? names.sort().join() : (names[0] ?? '')
    if (parts.length === 0 || (keys.get(change.table) ?? columns) !== columns) {
      parts.push([])
      keys = new Map()
    }
    parts.at(-1)?.push(change)
    keys.set(change.table, columns)
  }
  return parts
}

/**
 * Writes changes in the order of their events, with one statement per table, operation and set of columns where the
 * order allows it.
 */
export const writeChanges = async (tx: Knex, names: TableNames, changes: readonly Change[]) => {
  for (const part of splitByKeys(changes)) await writePart(tx, names, part)
}

const writePart = async (tx: Knex, names: TableNames, changes: readonly Change[]) => {
  for (const { keys, columns, changes: set } of groupByStatement(coalesce(changes))) {
    const [first] = set
    if (!first) continue
    const table = names(first.table)
    // both are in one JSON object: the row would find itself by its new value
    if (keys.some((key) => columns.includes(key))) throw new Error(`${first.table}: a change of what finds its row`)
    const rows = jsonOf(set.map((change) => [change.key, rowOf(change)]))
    const list = (items: readonly string[], text: (name: string) => string, by = ', ') => items.map(text).join(by)
    const q = (name: string) => `"${name}"`
    const source = `${recordsOf(table)} as n`
    const match = list(keys, (k) => `t.${q(k)} = n.${q(k)}`, ' and ')
    const insert = `insert into ${table} as t (${list([...keys, ...columns], q)}) select ${list([...keys, ...columns], (k) => `n.${q(k)}`)} from ${source}`
    const clear = `delete from ${table} as t using ${source} where ${match}`
    switch (first.op) {
      case 'put': {
        const fresh = `${insert} on conflict (${list(keys, q)}) do nothing`
        const added = await tx.raw<{ rowCount: number }>(fresh, rows).options(prepared(fresh))
        if (added.rowCount === set.length) break
        // delete first, so that no value of another column survives: a put gives the same row as a remove and a put
        await tx.raw(clear, rows)
        await tx.raw(insert, rows)
        break
      }
      case 'add': {
        const sum = `${insert} on conflict (${list(keys, q)}) do update set ${list(columns, (c) => `${q(c)} = coalesce(t.${q(c)}, 0) + excluded.${q(c)}`)}`
        await tx.raw(sum, rows).options(prepared(sum))
        break
      }
      case 'patch':
        await tx.raw(
          `update ${table} as t set ${list(columns, (c) => `${q(c)} = n.${q(c)}`)} from ${source} where ${match}`,
          rows,
        )
        break
      case 'remove':
        await tx.raw(clear, rows)
        break
    }
  }
}

/**
 * Returns a mark of the tables that answers are read from as soon as domain events are projected into them. Releases
 * that share all of these tables have the same mark.
 */
export const markOf = (projections: readonly Projection[]): string => {
  const tables = projections.flatMap(({ name, version, filter, optional }) =>
    filter === 'domain' && !optional ? [`${name} ${version}`] : [],
  )
  return createHash('sha256').update(tables.sort().join()).digest('base64url').slice(0, 8)
}
