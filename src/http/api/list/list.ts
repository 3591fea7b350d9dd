import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { turnTimer } from '../../../lib/async/pause.ts'
import { says, verbatim } from '../../../lib/fields.ts'
import type { ListedPart, ListOrder, ListRequest, Position } from '../../../queries/page.ts'
import type { Answer, Listing, ListShape } from '../contract.ts'
import { failField } from '../errors.ts'
import { filterId, moment, pagination } from '../fields.ts'
import { partIn } from '../limits/part.ts'
import type { Call } from '../route.ts'
import { columnsOf, createRoom, mostMiB } from './room.ts'

const text = z.string().optional()
/** A text that PostgreSQL can store, since it refuses to search for others, and compares with each row. */
export const searched = verbatim(256).optional()

/** The order of a list, of which the first is the default. */
export const orderOf = (...orders: readonly [ListOrder, ...ListOrder[]]) =>
  text
    .transform((given, context): ListOrder => {
      const known = given ? orders.find((name) => name === given) : orders[0]
      if (known) return known
      context.addIssue(says('not_one_of', { ...(orders.length === 1 && { what: 'only' }), values: orders.join(', ') }))
      return z.NEVER
    })
    .meta({ enum: [...orders] })

const fieldsOf = (columns: readonly string[]) =>
  text.transform((given, context) => {
    const names = given ? given.split(',').map((name) => name.trim()) : []
    if (names.every((name) => columns.includes(name))) return new Set(names)
    context.addIssue(says('not_one_of', { what: 'any_separated', values: columns.join(', ') }))
    return z.NEVER
  })

/** A list, as its contract describes it. */
interface Described<N extends string, R extends z.ZodObject> {
  readonly list: ListShape<N, R>
}
const columnsIn = ({ row }: ListShape) => Object.keys(row.shape)

/** The query of a list. */
export const listQuery = ({ list }: Described<string, z.ZodObject>) =>
  pagination.extend({
    cursor: text,
    order: orderOf('date', 'oldest'),
    from: moment('00:00:00'),
    to: moment('24:00:00'),
    q: searched,
    fields: fieldsOf(columnsIn(list)),
  })
/** The query of a list of what members make. */
export const ownedQuery = <N extends string, R extends z.ZodObject>(described: Described<N, R>) =>
  listQuery(described).extend({ made_by: filterId })
type ListQuery = Omit<z.output<ReturnType<typeof listQuery>>, 'from' | 'to'> & {
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  readonly made_by?: number | undefined
}

export interface ListCall extends Pick<Call, 'account' | 'limited' | 'path' | 'params' | 'cursors' | 'gone'> {
  readonly query: ListQuery
}
/** Reads a list for the request: its window, order and filters. */
export type ReadList<R> = (request: ListRequest) => Promise<ListedPart<R>>

/** Returns the entries of a page, as many as an answer has room for, and where the list goes on. */
const entriesOf = async <R, E extends object>(
  listed: ListedPart<R>,
  entryOf: (row: R) => E,
  gone: () => AbortSignal,
) => {
  // what has no places has made room itself
  const room = createRoom<E>((entry) => entry, listed.places ? undefined : Infinity)
  const [isLong, left] = [turnTimer(), gone()]
  const rows: R[] = []
  const placeOf = new Map<R, Position>()
  for (let part: ListedPart<R> | undefined = listed; part; part = room.isFull() ? undefined : await part.rest?.()) {
    for (const [i, row] of part.rows.entries()) {
      if (isLong()) await nextTurn()
      left.throwIfAborted()
      placeOf.set(row, part.places?.[i] ?? [])
      room.put(rows.push(row) - 1, entryOf(row))
    }
  }
  const shown = room.rows({ rows, next: listed.next }, (row) => placeOf.get(row) ?? [])
  return { ...listed, ...shown, entries: shown.rows.flatMap((_, i) => room.get(i) ?? []) }
}

/**
 * Returns the envelope of every list, in which `error` is a string. `present` returns an entry with all columns, and
 * `spellingVariants` the texts that find the same as `q`.
 */
export const list = async <N extends string, Z extends z.ZodObject, R>(
  { list: shape }: Described<N, Z>,
  { account, limited, path, params, query, cursors, gone }: ListCall,
  read: ReadList<R>,
  present: (row: R) => Answer<NoInfer<Z>>,
  spellingVariants: (q: string) => readonly string[] = (q) => [q],
): Promise<Listing<N, Answer<Z>>> => {
  const { name, identity } = shape
  const { limit, page, cursor, fields, q, ...filters } = query
  const { from, to, order } = filters
  if (from && to && from >= to) failField('from', 'wrong_order', { what: 'to' })
  const part = partIn({ account, limited, path }, query.made_by)
  const own = { account, list: [path, params, q, filters, ...(limited ? [limited] : [])] }
  const place = cursor ? cursors.open(own, cursor) : undefined
  const current = place?.page ?? (cursor === undefined ? page : 1)
  const shown = new Set(fields.size === 0 ? [] : [...identity, ...fields])
  const request = {
    limit,
    page: current,
    after: place?.after,
    order,
    from,
    to,
    part,
    q: q ? spellingVariants(q) : undefined,
  }
  const found = await read({ ...request, shown })
  const { total, entries, next, cut, searched } = await entriesOf(found, (row) => columnsOf(present(row), shown), gone)
  // the next page by number would leave out what this one has no room for
  if (cut && cursor === undefined) failField('limit', 'too_large', { what: 'page', mib: mostMiB })
  const maxpage = Math.max(1, Math.ceil(total / limit))
  return {
    error: '0' as const,
    // the compiler does not follow a name that is computed
    data: {
      result: total,
      perpage: limit,
      currentpage: current,
      nextpage: Math.min(current + 1, maxpage),
      maxpage,
      ...(searched !== undefined && { searched }),
      ...(cursor !== undefined && next && { next_cursor: cursors.make(own, { page: current + 1, after: next }) }),
      [name]: entries,
    } as Listing<N, Answer<Z>>['data'],
  }
}

/**
 * Returns the `Link` header of a response (RFC 8288): the next page of a list, nothing on its last page or for other
 * responses.
 */
export const nextPage = ({ data }: { readonly data?: unknown }, path: string, query: URLSearchParams) => {
  const { currentpage, maxpage, next_cursor: cursor } = (data ?? {}) as Readonly<Record<string, unknown>>
  const next = new URLSearchParams(query)
  if (query.has('cursor') || typeof cursor === 'string') {
    if (typeof cursor !== 'string') return {}
    next.delete('page')
    next.set('cursor', cursor)
  } else {
    if (typeof currentpage !== 'number' || typeof maxpage !== 'number' || currentpage >= maxpage) return {}
    next.set('page', String(currentpage + 1))
  }
  return { Link: `<${path}?${next.toString()}>; rel="next"` }
}
