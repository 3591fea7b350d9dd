import { serialize } from 'node:v8'
import type { LogEvent } from '../../events/index.ts'
import {
  type HistoryOf,
  type HistoryRow,
  idsNamed,
  listHistory,
  type Nameable,
  type Span,
} from '../../queries/history/history.ts'
import { type Listed, type ListRequest, mostCounted, offset } from '../../queries/page.ts'
import { limitConcurrency } from '../api/limits/concurrency.ts'
import type { Wanting } from '../api/limits/places.ts'
import { type Acting, actingOf, actorOf, namesOfActors } from './actors.ts'
import { forEachFound, type Found, type HistorySources, typeOf } from './history.ts'
import { namesBefore } from './events.ts'

/** Entries that one request searches: a search reads them from the log, because values of the past are nowhere else. */
const mostSearched = mostCounted
/** bytes of events and states that one request reads, and the entries that are searched first and together at most */
const [mostBytes, firstSearched, mostTogether] = [32 * 1024 * 1024, 50, 2000]
/** ms for which one request waits and searches: the rest of its five seconds is for its page and its names */
const mostMs = 3000
/** Returns until when a request that comes now searches, in ms of `performance.now()`. */
const fromNow = () => performance.now() + mostMs
/** What one request searches at most. */
interface SearchLimits {
  readonly most?: number | undefined
  readonly bytes?: number | undefined
  /** in ms of `performance.now()` */
  readonly until?: number | undefined
}

/**
 * Runs the searches of histories, each of which may read 10,000 events or 32 MiB and hold a connection: two at a
 * time in a process, one of a network, three of an account that run or wait, twelve in all. One whose client has its
 * answer, or has gone, does not begin any more, and one that has waited searches for less long.
 */
const limited = limitConcurrency('searches', { running: 2, ofAccount: 3, total: 12 })
export const searchingFor = <T>(
  wanting: Wanting,
  signal: AbortSignal,
  search: (until: number) => Promise<T>,
): Promise<T> => {
  const until = fromNow()
  return limited(wanting, () => {
    signal.throwIfAborted()
    return search(until)
  })
}

type Matches = (text: unknown) => boolean
const matcher = (parts: readonly string[]): Matches => {
  const wanted = parts.map((part) => part.toLowerCase())
  return (value) => {
    if (value === undefined || value === null) return false
    const text = (typeof value === 'string' ? value : JSON.stringify(value)).toLowerCase()
    return wanted.some((part) => text.includes(part))
  }
}

/**
 * Whether the event itself has the text: what happened, in which request, the fields, their values, and the names of
 * the resource, of which new ones are values.
 */
const matchesItself = (
  { step, message, resource, changes, isHidden }: Found,
  { originOf }: HistorySources,
  matches: Matches,
): boolean =>
  [typeOf(step.event), message, step.event.metadata.request].some(matches) ||
  changes.some((change) => [change.field, change.old, change.new].some(matches)) ||
  (!isHidden && namesBefore(step, resource, originOf).some(matches))

interface Ref {
  readonly kind: Nameable
  readonly id: number
}
const nameable = (kind: string, id: number): readonly Ref[] =>
  kind === 'link' || kind === 'bio' || kind === 'qr' ? [{ kind, id }] : []
/** The resources that an event names without their states: their names are those of the tables. */
const namedBy = ({ type, data }: LogEvent): readonly Ref[] => {
  switch (type) {
    case 'ItemAssignedToChannel':
    case 'ItemRemovedFromChannel': {
      const { kind, id } = data.item
      return [{ kind: 'channel', id: data.channel }, ...nameable(kind === 'links' ? 'link' : kind, id)]
    }
    case 'AnswerGiven':
    case 'AnswerErased':
      return [{ kind: 'overlay', id: data.overlay }]
    case 'AddressBlocked':
    case 'AddressUnblocked':
      return nameable(data.kind, Number(data.value))
    default:
      return []
  }
}

/** Returns the rows whose entries have one of some texts, in their order. */
const searchRows = async (
  rows: readonly HistoryRow[],
  sources: HistorySources,
  parts: readonly string[],
): Promise<readonly HistoryRow[]> => {
  const { reader, actorOf: present = actorOf, seen } = sources
  const matches = matcher(parts)
  const found = new Set<bigint>()
  // not the events themselves: ten thousand may be large
  const others: { readonly position: bigint; readonly acting: Acting; readonly refs: readonly Ref[] }[] = []
  await forEachFound(rows, sources, (one) => {
    const { event } = one.step
    if (matchesItself(one, sources, matches)) found.add(event.position)
    else others.push({ position: event.position, acting: actingOf(event), refs: namedBy(event) })
  })
  const names = await namesOfActors(
    reader,
    others.map(({ acting }) => acting),
  )
  const refs = others.flatMap((one) => one.refs)
  const named = new Set<string>()
  for (const kind of new Set(refs.map((ref) => ref.kind))) {
    const ids = refs.filter((ref) => ref.kind === kind).map(({ id }) => id)
    for (const id of await idsNamed(reader, { kind, ids: [...new Set(ids)], part: seen?.part }, parts))
      named.add(`${kind}-${id}`)
  }
  for (const { position, acting, refs: own } of others) {
    const { kind, name, member } = present(acting, names)
    const isNamed = own.some((ref) => named.has(`${ref.kind}-${ref.id}`))
    if ([kind, name, member?.name].some(matches) || isNamed) found.add(position)
  }
  return rows.filter(({ position }) => found.has(position))
}

/**
 * Searches rows, some at a time, until so many bytes were read or so much time has passed: `search` returns those of
 * some that match, and counts what it reads. Returns the matching ones, and the last row that was searched if there are
 * more.
 */
export const searchSome = async <R>(
  rows: readonly R[],
  search: (some: readonly R[], onRead: (read: unknown) => void) => Promise<readonly R[]>,
  { most = mostSearched, bytes = mostBytes, until = fromNow() }: SearchLimits = {},
) => {
  const matching: R[] = []
  const end = Math.min(rows.length, most)
  const began = performance.now()
  let [read, searched, together] = [0, 0, firstSearched]
  const onRead = (one: unknown) => void (read += serialize(one).length)
  while (searched < end && read < bytes && (searched === 0 || performance.now() < until)) {
    const some = rows.slice(searched, Math.min(end, searched + together))
    matching.push(...(await search(some, onRead)))
    searched += some.length
    const now = performance.now()
    // as many as there is room for, if they are like those before
    const share = Math.min((bytes - read) / read, (until - now) / (now - began))
    together = Math.max(1, Math.min(mostTogether, Math.floor(share * searched)))
  }
  return { matching, searched, stoppedAt: searched < rows.length ? rows[searched - 1] : undefined }
}

/**
 * Returns one page of the events of a history that have the text of a request. It looks at so many events, and so many
 * bytes of them: pages with numbers, and the number of matches, end with these, and `searched` says at how many. A
 * cursor goes on after the last one that was looked at, also when the page is not full. It has the number of matches.
 */
export const findInHistory = async (
  of: HistoryOf,
  span: Span,
  request: ListRequest,
  sources: HistorySources,
  { most = mostSearched, bytes, until }: SearchLimits = {},
): Promise<Listed<HistoryRow>> => {
  const { q, limit } = request
  const [after, counted] = request.after ?? []
  const place = after === undefined ? undefined : [after]
  if (!q) return listHistory(sources.reader, of, span, { ...request, after: place })
  const window = { ...request, after: place, page: 1, limit: most }
  const { rows, next: end } = await listHistory(sources.reader, of, span, window)
  const search = (some: typeof rows, onRead: (read: unknown) => void) => searchRows(some, { ...sources, onRead }, q)
  const { matching, searched, stoppedAt } = await searchSome(rows, search, { most, bytes, until })
  const further = stoppedAt ? [stoppedAt.position.toString()] : end
  const total = counted === undefined ? matching.length : Number(counted)
  const skip = place ? 0 : offset(request)
  const page = matching.slice(skip, skip + limit)
  const last = page.at(-1)
  const next = matching.length > skip + limit && last ? [last.position.toString()] : further
  return { total, rows: page, next: next && [...next, total], ...(further && { searched }) }
}
