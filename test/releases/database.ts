import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import type { Connection } from '../../src/postgres/database.ts'

/** A JSON object; numbers of the log and the tables that JavaScript cannot represent exactly are strings. */
export type Json = Readonly<Record<string, unknown>>

export const withClient = async <T>(connection: Connection, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await client.query("set timezone to 'UTC'")
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Returns the rows of a table as JSON, ordered by all their columns. */
export const rowsOf = async (client: pg.Client, table: string): Promise<Json[]> => {
  const { rows } = await client.query<{ row: string }>(
    `select to_json(t)::text as row from ${table} t order by t::text`,
  )
  // a bigint beyond 2^53 stays exact as a string
  return rows.map(({ row }) => JSON.parse(row.replaceAll(/([[:,]\s*)(-?\d{16,})(?=\s*[,}\]])/g, '$1"$2"')) as Json)
}

/** Returns the names of the tables in a schema, without the schema. */
const tablesIn = async (client: pg.Client, schema: string) => {
  const { rows } = await client.query<{ name: string }>(
    'select tablename as name from pg_tables where schemaname = $1 order by 1',
    [schema],
  )
  return rows.map(({ name }) => name)
}

/** Returns the names that the code uses for the existing read tables. */
export const readTableNames = (connection: Connection) =>
  withClient(connection, async (client) => {
    const names = (await tablesIn(client, 'read')).flatMap((name) => /^(\w+)_v\d+_\d+$/.exec(name)?.[1] ?? [])
    return [...new Set(names)]
  })

/** Returns the events of the log in order, with everything that another engine needs to store them. */
export const readEvents = async (client: pg.Client) => {
  const { rows } = await client.query<Json & { position: string; revision: string; at: Date }>(
    'select stream, revision, position, id, type, at, data, metadata from log.events order by position',
  )
  return rows.map((row) => ({ ...row, revision: Number(row.revision), position: Number(row.position) }))
}

/** Unlogged tables, which PostgreSQL may lose, are not part of a release. */
const volatile = ['rate_limits']

/** Returns the contents of the schema `state`: rows by table, and the last value of each sequence. */
export const readState = async (client: pg.Client) => {
  const tables: Record<string, Json[]> = {}
  for (const table of await tablesIn(client, 'state'))
    if (!volatile.includes(table)) tables[table] = await rowsOf(client, `state.${table}`)
  const { rows } = await client.query<{ name: string; last: number | null }>(
    "select sequencename as name, last_value::int as last from pg_sequences where schemaname = 'state' order by 1",
  )
  return { tables, sequences: Object.fromEntries(rows.map(({ name, last }) => [name, last])) }
}
export type State = Awaited<ReturnType<typeof readState>>

/** The table in which migrations are recorded. */
const migrationTable = `create schema state;
create table state.migrations (name text primary key, at timestamptz not null default now());
`

/** Returns the schemas `log` and `state` as SQL: the migrations of a program, and the table that records them. */
export const schemaSql = async (migrations: URL) => {
  const names = (await readdir(migrations)).filter((name) => name.endsWith('.sql')).sort()
  const texts = await Promise.all(names.map((name) => readFile(new URL(name, migrations), 'utf8')))
  return migrationTable + names.map((name, i) => `\n-- ${name}\n${texts[i]}`).join('')
}

/** Restores a stored log and state into an empty database. */
export const restore = (connection: Connection, schema: string, events: readonly Json[], state: State) =>
  withClient(connection, async (client) => {
    await client.query(schema)
    const fill = (table: string, rows: readonly Json[]) =>
      client.query(
        `insert into ${table} overriding system value select * from json_populate_recordset(null::${table}, $1::json)`,
        [JSON.stringify(rows)],
      )
    await fill('log.events', events)
    for (const [table, rows] of Object.entries(state.tables)) {
      await client.query(`truncate state.${table}`)
      await fill(`state.${table}`, rows)
    }
    for (const [name, last] of Object.entries(state.sequences))
      if (last !== null) await client.query('select setval($1, $2)', [`state.${name}`, last])
  })

/** Returns the columns of a table's primary key; empty when it has none. */
const keyOf = async (client: pg.Client, table: string) => {
  const { rows } = await client.query<{ name: string }>(
    `select a.attname as name from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
     where i.indrelid = $1::regclass and i.indisprimary order by array_position(i.indkey, a.attnum)`,
    [table],
  )
  return rows.map(({ name }) => name)
}

/** The rows of a read table; `key` holds the columns of its primary key. */
export interface StoredTable {
  readonly key: readonly string[]
  readonly rows: readonly Json[]
}

const dimensions = ['referrer', 'country', 'browser', 'os', 'device', 'language', 'source']
const without = (row: Json, name: string) =>
  Object.fromEntries(Object.entries(row).filter(([column]) => column !== name))

/**
 * Returns a row of a visit as release 0.1.0 had it: with its time, and with a column for the first visits of people.
 */
const asStored = ({ minute, ms, class: kind, ...row }: Json): Json => {
  if (minute === undefined) return { ...row, class: kind }
  const at = new Date(Number(minute) * 60_000 + Number(ms) + 30_000).toISOString().replace(/\.?0*Z$/, '+00:00')
  return { ...row, at, class: Math.max(Number(kind), 0), first: kind === -1 }
}

/** Columns that say where clicks are in the log: spools are recorded concurrently, in any order. */
const places: Readonly<Record<string, string>> = {
  account_clicks: 'position',
  account_stats: 'last',
  link_stats: 'last',
  link_routes: 'changed',
}
const withoutPlaces = (tables: Record<string, StoredTable>): Record<string, StoredTable> =>
  Object.fromEntries(
    Object.entries(tables).map(([name, { key, rows }]) => {
      const place = places[name]
      if (place === undefined) return [name, { key, rows }]
      const named = key.includes(place) ? ['account', 'stream', 'revision'] : key
      return [name, { key: named, rows: rows.map((row) => without(row, place)) }]
    }),
  )

/**
 * Returns the tables with labels in place of their ids, and without the order of clicks: spools are recorded
 * concurrently, in any order, and labels are numbered in the order of their first occurrence.
 */
const withoutOrder = ({ clicks, labels, ...tables }: Record<string, StoredTable>): Record<string, StoredTable> => {
  if (!clicks || !labels) return tables
  const texts = new Map(labels.rows.map(({ dim, id, label }) => [`${String(dim)}/${String(id)}`, label]))
  const labelled = (row: Json) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => {
        const dim = dimensions.indexOf(name)
        return [name, dim < 0 ? value : texts.get(`${dim}/${String(value)}`)]
      }),
    )
  return {
    ...tables,
    clicks: { key: clicks.key, rows: clicks.rows.map((row) => labelled(asStored(without(row, 'seq')))) },
    labels: { key: ['dim', 'label'], rows: labels.rows.map((row) => without(row, 'id')) },
  }
}

/**
 * Returns the rows of read tables by the names that the code uses; `physical` returns the name of a table in the
 * database.
 */
export const readTables = async (
  connection: Connection,
  names: readonly string[],
  physical: (name: string) => string,
): Promise<Record<string, StoredTable>> =>
  withClient(connection, async (client) => {
    const tables: Record<string, StoredTable> = {}
    for (const name of names)
      tables[name] = { key: await keyOf(client, physical(name)), rows: await rowsOf(client, physical(name)) }
    return withoutOrder(withoutPlaces(tables))
  })
