import type { Knex } from 'knex'
import { normalized } from '../lib/strangers.ts'
import type { Part } from './accounts/part.ts'
import { planned, type Reader } from './reader.ts'

/** One page of a list; `page` counts from 1. */
export interface Page {
  /** rows per page */
  readonly limit: number
  readonly page: number
}
export const offset = ({ limit, page }: Page) => (page - 1) * limit

/**
 * The columns of a row that its list is sorted by. They identify the row within the list, so that reading can continue
 * after it.
 */
export type Position = readonly (number | string)[]
/** `date`: newest first */
export type ListOrder = 'date' | 'oldest' | 'click' | 'name'

/** What a request wants of a list. */
export interface ListRequest extends Page {
  /** the last row that the client has: the page starts after it, and `page` does not count */
  readonly after?: Position | undefined
  readonly order: ListOrder
  /** when rows were created: inclusive */
  readonly from?: Date | undefined
  /** exclusive */
  readonly to?: Date | undefined
  /** parts of the searched text, in any letter case, of which one is enough */
  readonly q?: readonly string[] | undefined
  /** what of the account they are */
  readonly part?: Part | undefined
  /** columns that the answer has; none: all of them */
  readonly shown?: ReadonlySet<string> | undefined
}
export interface Listed<R> {
  readonly rows: readonly R[]
  /** number of matches on all pages; at most `mostCounted` where they have to be counted */
  readonly total: number
  /** of the last row, unless it is the last of the list */
  readonly next?: Position | undefined
  /** of each row */
  readonly places?: readonly Position[] | undefined
  /** rows of the page were left out: an answer has no room for them */
  readonly cut?: boolean | undefined
  /** rows that were searched, if there are more */
  readonly searched?: number | undefined
}

/** The first rows of a page that is read in parts, or all of it. */
export interface ListedPart<R> extends Listed<R> {
  /** Reads the next part of the page; undefined in the last one. */
  readonly rest?: (() => Promise<ListedPart<R>>) | undefined
}

/** Matches beyond these are not counted, and have no page numbers. A cursor reads them all. */
export const mostCounted = 10_000

const like = (text: string) => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`

/** Accents are letters of their own in one form of Unicode: what was typed on one system is found from another. */
const inBothForms = (text: string): readonly string[] => [
  ...new Set([text, ...(['NFC', 'NFD'] as const).flatMap((form) => normalized('search', form, text) ?? [])]),
]

/** SQL that is true if one of the parts is in the text. */
export const contains = (db: Knex, text: string, parts: readonly string[]) =>
  db.raw(`${text} ilike any(?)`, [parts.flatMap(inBothForms).map(like)])

/** Whether the request leaves out rows of the list. */
export const isFiltered = ({ q, from, to, part }: ListRequest) =>
  q !== undefined || from !== undefined || to !== undefined || part !== undefined

interface Filtered {
  /** SQL of the text that `q` searches */
  readonly searched: string
  /** Returns SQL of whether a row is found by something else than its text. */
  readonly orFound?: (q: readonly string[]) => Knex.Raw
  /** SQL of the moment of creation */
  readonly created: string
  /** SQL of whether a row is in a part of its account, where the list knows that */
  readonly isIn?: (part: Part) => string
}
/** Adds the conditions of a request to a query of the whole list. */
export const filtered = (
  db: Knex,
  rows: Knex.QueryBuilder,
  { q, from, to, part }: ListRequest,
  { searched, orFound, created, isIn }: Filtered,
): Knex.QueryBuilder => {
  if (q)
    void rows.where((found) => {
      void found.whereRaw(contains(db, searched, q))
      if (orFound) void found.orWhereRaw(orFound(q))
    })
  if (from) void rows.whereRaw(`${created} >= ?`, [from])
  if (to) void rows.whereRaw(`${created} < ?`, [to])
  if (part) void rows.whereRaw(isIn?.(part) ?? 'false')
  return rows
}

/** A part of a sorted list: `limit` rows after a position, or after as many rows as are skipped. */
export interface Window extends Pick<ListRequest, 'after' | 'order' | 'limit'> {
  readonly skip: number
}
const windowOf = (request: ListRequest): Window => ({ ...request, skip: request.after ? 0 : offset(request) })

/**
 * Sorts rows by the columns of their position, and takes those of the window and one more, which shows whether the list
 * goes on.
 */
export const slice = (rows: Knex.QueryBuilder, position: readonly string[], window: Window): Knex.QueryBuilder => {
  const { after, order, limit, skip } = window
  const [further, direction] = order === 'oldest' || order === 'name' ? ['>', 'asc'] : ['<', 'desc']
  if (after)
    void rows.whereRaw(`(${position.join(', ')}) ${further} (${position.map(() => '?').join(', ')})`, [...after])
  return rows
    .orderByRaw(position.map((column) => `${column} ${direction}`).join(', '))
    .limit(limit + 1)
    .offset(skip)
}

/** Returns the page of what `slice` has found. */
const pageOf = <R>(
  found: readonly R[],
  total: number,
  { limit }: Pick<Page, 'limit'>,
  positionOf: (row: R) => Position,
): Listed<R> => {
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return { total, rows, next: found.length > limit && last !== undefined ? positionOf(last) : undefined }
}

/** Where the rows of a list come from. */
export interface Source {
  /** Returns the rows that the request does not leave out, without an order and without columns. */
  readonly matching: () => Knex.QueryBuilder
  /** SQL of the columns of a row's position */
  readonly position: readonly string[]
  /** Returns SQL that reads the number of rows where it is kept. Otherwise they are counted, up to `mostCounted`. */
  readonly kept?: (() => Knex.QueryBuilder | Knex.Raw) | undefined
  /** Counts the rows beyond `mostCounted`, too, where that is fast. */
  readonly counted?: (() => Promise<number>) | undefined
  /** Whether the rows are sums of others, which cost the most: they are made once, to be counted and to be sorted. */
  readonly isComputed?: boolean
  /** Reads sorted positions where there may be many, as `slice` does. */
  readonly sorted?: ((window: Window) => Promise<readonly Position[]>) | undefined
}

const names = (position: readonly string[]) => position.map((_, i) => `k${i}`)

/** Selects the columns of the position, so that an index suffices. */
const narrow = ({ matching, position }: Source, db: Knex) =>
  matching().select(names(position).map((name, i) => db.raw(`${position[i]} as ${name}`)))

const positionOf = (row: Readonly<Record<string, number | string | Date>>): Position =>
  Object.values(row).map((value) => (value instanceof Date ? value.toISOString() : value))

const sortedPositions = async (source: Source, { db }: Reader, window: Window): Promise<readonly Position[]> => {
  if (source.sorted) return source.sorted(window)
  return ((await slice(narrow(source, db), source.position, window)) as Record<string, number>[]).map(positionOf)
}

interface CountRow {
  readonly n: number | string | null
  readonly positions: readonly Record<string, number | string>[] | null
}

/** Returns SQL of the positions of rows that are sorted, as one value. */
const positionsAsJson = (db: Knex, rows: Knex.QueryBuilder) =>
  db.raw('(select json_agg(p) from ?) as positions', [rows.as('p')])

/** Reads the number of rows, and the positions of those on the page, with one statement. */
const keptPositions = async (source: Source, reader: Reader, window: Window, kept: NonNullable<Source['kept']>) => {
  const { db } = reader
  const n = db.raw('(?) as n', [kept()])
  if (source.sorted) {
    const [row] = (await db.select(n)) as Pick<CountRow, 'n'>[]
    return { n: Number(row?.n ?? 0), found: await source.sorted(window) }
  }
  const rows = slice(narrow(source, db), source.position, window)
  const query = db.select(n, positionsAsJson(db, rows))
  const [row] = (await query.options(planned(reader, query.toSQL().sql))) as CountRow[]
  return { n: Number(row?.n ?? 0), found: (row?.positions ?? []).map((position): Position => Object.values(position)) }
}

/**
 * Finds all matches in one pass, if they can be counted or are computed: the planner is free to use the index that
 * finds the fewest rows.
 */
const countedPositions = async (source: Source, { db }: Reader, window: Window) => {
  const columns = names(source.position)
  const page = slice(db('found').select(columns), columns, window)
  const rows = narrow(source, db)
  const [row] = (await db
    .withMaterialized('found', source.isComputed ? rows : rows.limit(mostCounted + 1))
    .select(db.raw('(select count(*)::int from found) as n'), positionsAsJson(db, page))) as CountRow[]
  return { n: Number(row?.n ?? 0), found: (row?.positions ?? []).map((position): Position => Object.values(position)) }
}

const itself = (position: Position) => position

/** Returns how many rows a page has room for. One with a number ends with the rows that are counted. */
const limitOf = ({ after, limit, skip }: Window, last = mostCounted) =>
  after ? limit : Math.max(0, Math.min(limit, last - skip))

/** Reads a page of more matches than are counted. */
const beyondCounted = async (source: Source, reader: Reader, window: Window) => {
  const [total, last] = source.counted ? [await source.counted(), Infinity] : [mostCounted, mostCounted]
  const limit = limitOf(window, last)
  const found = limit === 0 ? [] : await sortedPositions(source, reader, { ...window, limit })
  return pageOf(found, total, { limit }, itself)
}

/**
 * Returns the positions of the rows on a page. Reading whole rows only for these keeps a page fast however far back it
 * is.
 */
export const readPositions = async (
  source: Source,
  reader: Reader,
  request: ListRequest,
): Promise<Listed<Position>> => {
  const window = windowOf(request)
  if (source.kept) {
    const { n, found } = await keptPositions(source, reader, window, source.kept)
    return pageOf(found, n, request, itself)
  }
  const { n, found } = await countedPositions(source, reader, window)
  if (source.isComputed) return pageOf(found, Math.min(n, mostCounted), { limit: limitOf(window) }, itself)
  return n <= mostCounted ? pageOf(found, n, request, itself) : beyondCounted(source, reader, window)
}

/** Returns rows in the order of their positions; a row that was deleted meanwhile is left out. */
export const inOrder = <R>(
  { rows: positions, ...listed }: Listed<Position>,
  rows: readonly R[],
  keyOf: (row: R) => number | string,
): Listed<R> => {
  const byKey = new Map(rows.map((row) => [String(keyOf(row)), row]))
  const places = positions.filter((position) => byKey.has(String(position.at(-1))))
  return { ...listed, places, rows: places.flatMap((position) => byKey.get(String(position.at(-1))) ?? []) }
}
