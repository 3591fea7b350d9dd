import type { Knex } from 'knex'
import type { Ordinals } from '../../events/ordinals.ts'
import { type Key, nameOfRow } from '../rownames.ts'
import type { Projection, TableNames } from './projection.ts'

/** Which rows of a table are compared, and by which of their columns. */
interface Comparison {
  /** the columns of an index, in whose order the table is read */
  readonly range: readonly string[]
  /** the columns that tell one row from another */
  readonly key: readonly string[]
  /** by default all */
  readonly columns?: readonly string[]
  readonly where?: string
}

/** Tables without a primary key. */
const keys: Readonly<Record<string, Comparison>> = {
  clicks: { range: ['link', 'minute'], key: ['seq'] },
  withdrawn_visits: { range: ['link', 'minute'], key: ['seq'] },
  link_routes: { range: ['link', 'revision'], key: ['link', 'revision', 'rule', 'destination'] },
  route_rolls: { range: ['link', 'revision'], key: ['link', 'revision', 'rule', 'destination', 'position'] },
}
/** It says what was dropped, which the log does not. */
const horizon = 'click_horizon'

const counters = ['clicks', 'uniques', 'visits']
/** What is made of clicks that were dropped is compared by its totals; of these tables, not even those are left. */
const sums = [
  ...['quarters', 'days', 'tops', 'rolls', 'route_rolls', 'strays'],
  ...['corrections', 'corrected_quarters', 'corrected_days'],
]
const afterDropping = (first: number): Readonly<Record<string, Partial<Comparison>>> => ({
  clicks: { where: `minute >= ${first}` },
  withdrawn_visits: { where: `minute >= ${first}` },
  link_stats: { columns: ['link', 'account', ...counters, 'elsewhere'] },
  account_stats: { columns: ['account', ...counters] },
  link_routes: { columns: ['link', 'revision', 'rule', 'destination', 'clicks', 'visits'] },
})

/** Returns the first minute whose clicks a table still has, undefined when none were dropped. */
export const firstKept = async (db: Knex, names: TableNames): Promise<number | undefined> =>
  (await db(names(horizon)).select<{ minute: number }[]>('minute'))[0]?.minute

const primaryKey = async (db: Knex, table: string): Promise<readonly string[]> => {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `select a.attname as name from pg_index i cross join unnest(i.indkey::int[]) with ordinality as k (number, place)
     join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
     where i.indrelid = ?::regclass and i.indisprimary order by k.place`,
    [table],
  )
  return rows.map(({ name }) => name)
}

const typesOf = async (db: Knex, table: string, columns: readonly string[]): Promise<readonly string[]> => {
  const { rows } = await db.raw<{ rows: { name: string; type: string }[] }>(
    `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute where attrelid = ?::regclass and attnum > 0`,
    [table],
  )
  return columns.map((column) => rows.find(({ name }) => name === column)?.type ?? 'text')
}

/** rows of a table that are compared at a time */
const step = 20_000

type Bound = readonly string[]
/** The rows of a table after one place in the order of the range, up to another. */
interface Span {
  readonly after?: Bound | undefined
  readonly to?: Bound | undefined
}
type Pair = readonly [live: string, fresh: string]
type Query = <R>(sql: string, bindings: readonly string[]) => Promise<readonly R[]>

/** Reads two tables, each given by its physical name, in parts that end at the same places. */
const openParts = (query: Query, pair: Pair, comparison: Required<Comparison>, types: readonly string[]) => {
  const { range, key, where, columns } = comparison
  const placed = `(${types.map((type) => `?::${type}`).join()})`
  const row = columns.length > 0 ? `row(${columns.map((name) => `t.${name}`).join()})` : 't'
  const within = ({ after, to }: Span) =>
    [
      where,
      ...(after ? [`(${range.join()}) > ${placed}`] : []),
      ...(to ? [`(${range.join()}) <= ${placed}`] : []),
    ].join(' and ')
  const bindings = ({ after = [], to = [] }: Span) => [...after, ...to]
  return {
    /**
     * Returns where the next rows end: in the table in which they end first. Undefined when these are the last ones.
     */
    end: async (after: Bound | undefined, size: number): Promise<Bound | undefined> => {
      const ends = pair.map(
        (name) =>
          `(select ${range.join()} from ${name} where ${within({ after })} order by ${range.join()} offset ${size - 1} limit 1)`,
      )
      const [found] = await query<Key>(
        `select ${range.map((name) => `e.${name}::text as ${name}`).join()} from (${ends.join(' union all ')}) e
         order by ${range.map((name) => `e.${name}`).join()} limit 1`,
        [...bindings({ after }), ...bindings({ after })],
      )
      return found && range.map((name) => found[name]!)
    },
    /** Returns how many rows there are, and the key of the first that differs. */
    compare: async (span: Span) => {
      const rows = (name: string) => `select ${key.join()}, ${row}::text as row from ${name} t where ${within(span)}`
      const named = key.map((name) => `'${name}', ${name}::text`).join()
      const [found] = await query<{ n: number; first: Key | null }>(
        `with live as (${rows(pair[0])}), fresh as (${rows(pair[1])})
         select count(*)::int as n,
           (array_agg(json_build_object(${named}) order by ${key.join()}) filter (where live.row is distinct from fresh.row))[1] as first
         from live full join fresh using (${key.join()})`,
        [...bindings(span), ...bindings(span)],
      )
      return found!
    },
    /** Returns a row of both tables. */
    rows: (span: Span, first: Key) =>
      Promise.all(
        pair.map(async (name) => {
          const [found] = await query<{ row: Members }>(
            `select to_jsonb(t) as row from ${name} t where ${within(span)} and ${key.map((one) => `${one}::text = ?`).join(' and ')}`,
            [...bindings(span), ...key.map((one) => first[one]!)],
          )
          return found?.row
        }),
      ),
  }
}

const compareTable = async (
  db: Knex,
  table: string,
  pair: Pair,
  given: Partial<Comparison>,
  { size = step, signal, ordinals }: CompareOptions,
): Promise<{ readonly rows: number; readonly text?: string }> => {
  const known = { ...keys[table], ...given }
  const key = known.key ?? (await primaryKey(db, pair[1]))
  if (key.length === 0) throw new Error(`nothing is known of the key of the table ${table}`)
  const comparison = { range: known.range ?? key, key, columns: known.columns ?? [], where: known.where ?? 'true' }
  const query: Query = async <R>(sql: string, bindings: readonly string[]) =>
    (await db.raw<{ rows: R[] }>(sql, [...bindings])).rows
  const parts = openParts(query, pair, comparison, await typesOf(db, pair[1], comparison.range))
  let [rows, after] = [0, undefined as Bound | undefined]
  for (;;) {
    signal?.throwIfAborted()
    const to = await parts.end(after, size)
    const span = { after, to }
    const { n, first } = await parts.compare(span)
    rows += n
    if (first) {
      const [live, fresh] = await parts.rows(span, first)
      return { rows, text: describe(`${table}: ${await nameOfRow(table, first, ordinals)}`, live, fresh) }
    }
    if (!to) return { rows }
    after = to
  }
}

type Members = Readonly<Record<string, unknown>>
/** Says how a row differs, by its columns: their values may be personal. */
const describe = (row: string, live: Members | undefined, fresh: Members | undefined): string => {
  if (!live) return `${row} is missing`
  if (!fresh) return `${row} should not be there: the log does not make it`
  const differ = Object.keys(fresh).filter((name) => JSON.stringify(live[name]) !== JSON.stringify(fresh[name]))
  return `${row} is not what the log makes it: ${differ.join(', ')}`
}

interface CompareOptions {
  /** by which clicks and events are named */
  readonly ordinals: Pick<Ordinals, 'of'>
  /** the first minute whose clicks the live tables still have; by default all */
  readonly kept?: number | undefined
  /** rows at a time */
  readonly size?: number
  readonly signal?: AbortSignal
}

export interface Compared {
  readonly tables: number
  readonly rows: number
  /** the first of each table that differs */
  readonly differences: readonly string[]
}

/**
 * Compares the tables of a projection with others, which were filled from the log now. Each row is compared with its
 * counterpart, some thousand at a time.
 */
export const compareTables = async (
  db: Knex,
  { tables }: Pick<Projection, 'tables'>,
  [live, fresh]: readonly [live: TableNames, fresh: TableNames],
  options: CompareOptions,
): Promise<Compared> => {
  let [count, rows] = [0, 0]
  const differences: string[] = []
  const { kept } = options
  const dropped = kept === undefined ? {} : afterDropping(kept)
  for (const table of Object.keys(tables)) {
    if (table === horizon || (kept !== undefined && sums.includes(table))) continue
    const found = await compareTable(db, table, [live(table), fresh(table)], dropped[table] ?? {}, options)
    count++
    rows += found.rows
    if (found.text !== undefined) differences.push(found.text)
  }
  return { tables: count, rows, differences }
}
