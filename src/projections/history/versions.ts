import type { Knex } from 'knex'
import { prepared } from '../../postgres/database.ts'
import { type Change, keyText, type TableNames } from '../engine/projection.ts'
import type { Row } from '../engine/row.ts'
import { jsonOf, type Parts, recordsOf } from '../engine/row.ts'

/** The end of a version that is still in force. */
const open = (2n ** 63n - 1n).toString()

/** Returns the name of the table that has the versions of another table's rows. */
export const pastOf = (table: string): string => `past_${table}`

/** A change, and the position of the event that makes it. */
export interface Dated {
  readonly position: bigint
  readonly change: Change
}
/** The newest version of a row. */
export interface Version {
  readonly row: Parts
  readonly since: bigint
  /** it is in the table */
  readonly stored: boolean
  /** of this row */
  readonly first: boolean
}
/** What a batch changes in the versions of a table. */
interface Written {
  readonly ended: Row[]
  readonly added: Parts[]
}

/** Names a row by the columns of its key. Ids are numbers in JSON, and numbers without a limit in events. */
const valuesOf = (columns: readonly string[], row: Parts) =>
  JSON.stringify(columns.map((name) => keyText(valueOf(row, name))))

const valueOf = (row: Parts, name: string) => row.find((part) => name in part)?.[name]

const after = (change: Change, before: Version | undefined): Parts | undefined => {
  switch (change.op) {
    case 'put':
      return [change.key, change.row]
    case 'patch':
      return before && [Object.assign({}, ...before.row, change.row) as Row]
    case 'add': {
      const sums = Object.entries(change.row).map(
        ([name, n]) => [name, Number(valueOf(before?.row ?? [], name) ?? 0) + n] as const,
      )
      return [Object.assign({}, change.key, ...(before?.row ?? []), Object.fromEntries(sums)) as Row]
    }
    case 'remove':
      return undefined
  }
}

/** Returns the versions that some changes of a table end and add, given those that are in force before. */
export const versionsAfter = (
  key: readonly string[],
  inForce: ReadonlyMap<string, Version>,
  changes: readonly Dated[],
): Written => {
  const newest = new Map(inForce)
  const written: Written = { ended: [], added: [] }
  const end = ({ row, since, stored, first }: Version, until: bigint) => {
    if (stored)
      written.ended.push({ ...Object.fromEntries(key.map((name) => [name, valueOf(row, name)!])), since, until })
    // what one event has written twice was never in force
    else if (since < until) written.added.push([...row, { since, until, first }])
  }
  for (const { position, change } of changes) {
    const columns = Object.keys(change.key)
    const isWhole = key.every((name) => columns.includes(name))
    const changed = isWhole
      ? [valuesOf(key, [change.key])]
      : [...newest].flatMap(([at, { row }]) => (valuesOf(columns, row) === valuesOf(columns, [change.key]) ? [at] : []))
    for (const row of changed) {
      const before = newest.get(row)
      if (!before && (change.op === 'patch' || change.op === 'remove')) continue
      if (before) end(before, position)
      const next = after(change, before)
      const first = !before || (before.since === position && before.first)
      if (next) newest.set(row, { row: next, since: position, stored: false, first })
      else newest.delete(row)
    }
  }
  for (const { row, since, stored, first } of newest.values())
    if (!stored) written.added.push([...row, { since, until: open, first }])
  return written
}

/** Changes of a table whose rows have versions. */
export interface Versioned {
  readonly name: string
  readonly key: readonly string[]
  readonly changes: readonly Dated[]
}

/** Reads the versions in force of all rows that are changed, with one statement. */
const readInForce = async (tx: Knex, names: TableNames, tables: readonly Versioned[]) => {
  const parts = tables.flatMap(({ name, key, changes }) => {
    const t = names(pastOf(name))
    const keys = new Map<string, Row[]>()
    for (const { change } of changes) {
      const columns = Object.keys(change.key).sort().join()
      const rows = keys.get(columns)
      if (rows) rows.push(change.key)
      else keys.set(columns, [change.key])
    }
    return [...keys].map(([columns, rows]) => {
      const match = columns.split(',').map((column) => `v.${column} = k.${column}`)
      const isWhole = match.length === key.length
      const newest = isWhole ? 'order by v.since desc limit 1' : `and v.until = ${open}`
      const distinct = [...new Map(rows.map((row) => [valuesOf(Object.keys(row), [row]), row])).values()]
      return {
        isWhole,
        sql: `select '${name}' as name, to_json(o) as version from ${recordsOf(t)} k
              cross join lateral (select * from ${t} v where ${match.join(' and ')} ${newest}) o where o.until = ${open}`,
        rows: jsonOf(distinct.map((row) => [row])),
      }
    })
  })
  type Found = Readonly<Record<string, Row[string]>> & { readonly since: number }
  const sql = parts.map((part) => part.sql).join(' union all ')
  const { rows } = await tx
    .raw<{ rows: { name: string; version: Found }[] }>(
      sql,
      parts.flatMap((part) => part.rows),
    )
    // by a whole key an index is used, however small the table was when the plan was made
    .options(parts.every(({ isWhole }) => isWhole) ? prepared(sql) : {})
  return (table: Versioned): ReadonlyMap<string, Version> =>
    new Map(
      rows.flatMap(({ name, version }) => {
        if (name !== table.name) return []
        const { since, until: _, first: __, ...row } = version
        return [[valuesOf(table.key, [row]), { row: [row], since: BigInt(since), stored: true, first: false }] as const]
      }),
    )
}

/** Writes the versions of all tables with one statement. */
const store = async (
  tx: Knex,
  names: TableNames,
  all: readonly (Written & { readonly table: Versioned })[],
): Promise<void> => {
  const parts = all.flatMap(({ table: { name, key }, ended, added }) => {
    const t = names(pastOf(name))
    const match = [...key, 'since'].map((column) => `t.${column} = n.${column}`).join(' and ')
    const source = `${recordsOf(t)} n`
    return [
      {
        sql: `update ${t} t set until = n.until from ${source} where ${match}`,
        rows: ended.map((row): Parts => [row]),
      },
      { sql: `insert into ${t} select n.* from ${source}`, rows: added },
    ].filter(({ rows }) => rows.length > 0)
  })
  if (parts.length === 0) return
  await tx.raw(
    `with ${parts.map(({ sql }, i) => `part${i} as (${sql})`).join()} select 1`,
    parts.flatMap(({ rows }) => jsonOf(rows)),
  )
}

/** Adds the versions that changes make. */
export const writeVersions = async (tx: Knex, names: TableNames, changed: readonly Versioned[]): Promise<void> => {
  if (changed.length === 0) return
  const inForce = await readInForce(tx, names, changed)
  const all = changed.map((table) => ({ table, ...versionsAfter(table.key, inForce(table), table.changes) }))
  await store(tx, names, all)
}
