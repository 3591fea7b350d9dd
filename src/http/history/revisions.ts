import { setImmediate as nextTurn } from 'node:timers/promises'
import type { z } from 'zod'
import type { Caller } from '../../commands/caller.ts'
import { hideForeign } from '../../commands/caller.ts'
import { refuse } from '../../commands/decider.ts'
import type { Handler } from '../../commands/handle.ts'
import { link } from '../../commands/links/link.ts'
import { countRevision } from '../../commands/load.ts'
import type { StepRange } from '../../commands/steps.ts'
import type { Ordinals } from '../../events/ordinals.ts'
import { completed } from '../../events/links/link.ts'
import { isUnknown } from '../../events/unknown.ts'
import { turnTimer } from '../../lib/async/pause.ts'
import type { Listed, ListRequest } from '../../queries/page.ts'
import { readOneMoment } from '../../queries/reader.ts'
import { namesOfOwnKeys, revisionsWithVisits, routesOf } from '../../queries/history/revisions.ts'
import { byId } from '../api/fields.ts'
import { list, listQuery } from '../api/list/list.ts'
import { createRoom } from '../api/list/room.ts'
import { endpoint, type Call, type Route } from '../api/route.ts'
import { memberIn, membersOf } from './actors.ts'
import { searchingFor, searchSome } from './search.ts'
import { present, type ReadRevision, readOf, type Revision, type ShownRevision } from './presented.ts'
import { revisions, revisionsContract } from './contract/revisions.ts'

/** Dependencies of the histories of revisions. */
export interface RevisionServices {
  readonly handler: Handler
  readonly ordinals: Ordinals
}

/** Fails with 404 unless the link belongs to the account, also when it is deleted. */
const requireOwn = async ({ account, load }: Pick<Caller, 'account' | 'load'>, id: number) => {
  const { state } = await load(link, id).catch(hideForeign(account, 'link'))
  if (state.status === 'none' || state.account !== account) refuse('not_found', { what: 'link' })
}

/**
 * Calls `use` with the revisions of a link from one to another, both included. They are not kept: each may have 64 KB
 * of rules. Stops when the client no longer waits for the answer.
 */
const forEachRevision = async (
  id: number,
  { handler }: Pick<RevisionServices, 'handler'>,
  { from, last, signal, onRead }: Pick<StepRange, 'onRead'> & Record<'from' | 'last', number> & Pick<Asked, 'signal'>,
  use: (revision: Revision) => void,
): Promise<void> => {
  const isLong = turnTimer()
  let isKnown = true
  let newest: Revision | undefined
  for await (const { event, after } of handler.steps(link, id, { from, upTo: last, onRead })) {
    signal.throwIfAborted()
    if (isLong()) await nextTurn()
    isKnown &&= !isUnknown(event)
    if (newest) use({ ...newest, until: event.at })
    const fields = isKnown ? { fields: completed(after.fields) } : {}
    newest = { revision: Number(event.revision), event, ...fields, deleted: after.status === 'deleted' }
  }
  if (newest) use(newest)
}

const isWithin = ({ event }: Revision, { from, to }: Pick<ListRequest, 'from' | 'to'>) => {
  const at = new Date(event?.at ?? 0)
  return (!from || at >= from) && (!to || at < to)
}
const says = ({ fields }: Revision, q: readonly string[] | undefined) =>
  q === undefined ||
  q.some((part) =>
    JSON.stringify(fields ?? {})
      .toLowerCase()
      .includes(part.toLowerCase()),
  )

const matches = (one: Revision, request: ListRequest) => isWithin(one, request) && says(one, request.q)

/** The revisions that match a request, in its order: for a search, those that it has searched. */
interface Matching {
  readonly rows: readonly Revision[]
  readonly searched?: number
  /** the last one that was searched, if there are more */
  readonly stoppedAt?: number | undefined
}

const isAfter = (revision: number, { after, order }: ListRequest) =>
  after === undefined || (order === 'oldest' ? revision > Number(after[0]) : revision < Number(after[0]))

/** Returns one page of the revisions that match a request. A cursor has their number: a search begins at it. */
const pageOf = ({ rows: matching, searched, stoppedAt }: Matching, request: ListRequest): Listed<Revision> => {
  const { after, limit, page } = request
  const total = searched === undefined ? matching.length : Number(after?.[1] ?? matching.length)
  const rest = matching.filter(({ revision }) => isAfter(revision, request))
  const skip = after === undefined ? (page - 1) * limit : 0
  const rows = rest.slice(skip, skip + limit)
  const last = rest.length > skip + limit ? rows.at(-1)?.revision : stoppedAt
  return {
    rows,
    total,
    ...(last !== undefined && { next: [last, total] }),
    ...(stoppedAt !== undefined && { searched }),
  }
}

const bare = (revision: number): Revision => ({ revision, deleted: false })

type Query = z.output<ReturnType<typeof listQuery>>
type RevisionsCall = Call<{ id: number }, Query>
type Asked = Pick<RevisionsCall, 'account' | 'from' | 'params' | 'query'> & {
  readonly last: number
  readonly signal: AbortSignal
}

/** Returns the revisions of a link, up to `last`, that match a request. A search begins where its cursor is. */
const matchingOf = async (
  { account, from, params: { id }, last, signal }: Asked,
  request: ListRequest,
  services: RevisionServices,
): Promise<Matching> => {
  const all = Array.from({ length: last + 1 }, (_, n) => (request.order === 'oldest' ? n : last - n))
  if (!(request.from ?? request.to ?? request.q)) return { rows: all.map(bare) }
  const search = async (some: readonly number[], onRead: (read: unknown) => void) => {
    const found = new Set<number>()
    const use = (one: Revision) => {
      if (matches(one, request)) found.add(one.revision)
    }
    const span = { from: Math.min(...some), last: Math.max(...some), signal, onRead }
    await forEachRevision(id, services, span, use)
    return some.filter((revision) => found.has(revision))
  }
  const rest = all.filter((revision) => isAfter(revision, request))
  const { matching, ...end } = await searchingFor({ account, from }, signal, (until) =>
    searchSome(rest, search, { until }),
  )
  return { ...end, rows: matching.map(bare) }
}

/** Reads the revisions of a page, as many as fit into an answer. */
const readRows = async (
  listed: Listed<Revision>,
  { params: { id }, query, last, signal }: Asked,
  services: RevisionServices,
): Promise<Listed<ReadRevision>> => {
  const places = new Map(listed.rows.map(({ revision }, i) => [revision, i]))
  const missing = [...places.keys()].filter((revision) => revision <= last)
  const room = createRoom<ReadRevision>(({ rules }) => rules)
  const use = (one: Revision) => {
    const place = places.get(one.revision)
    if (place !== undefined) room.put(place, readOf(one, query.fields))
  }
  // the next revision ends the last of them
  const span = { from: Math.min(...missing), last: Math.min(last, Math.max(...missing) + 1), signal }
  if (missing.length > 0) await forEachRevision(id, services, span, use)
  const { rows, ...further } = room.rows(listed, ({ revision }) => [revision, listed.total])
  return {
    total: listed.total,
    searched: listed.searched,
    ...further,
    rows: rows.map((row, i) => room.get(i) ?? readOf(row, query.fields)),
  }
}

/** Reads a page of revisions with their visits. */
const readPage = async (
  call: RevisionsCall,
  request: ListRequest,
  services: RevisionServices,
): Promise<Listed<ShownRevision>> => {
  const { account, params, query, load, reader: from } = call
  const { id } = params
  const last = countRevision((await load(link, id)).revision)
  const asked = { account, from: call.from, params, query, last, signal: call.gone() }
  const known = await matchingOf(asked, request, services)
  return readOneMoment(from, async (reader) => {
    // clicks of a log that was restored from a backup may have revisions that the link does not have yet
    const unknown = (await revisionsWithVisits(reader, id, last + 1)).map(bare).filter((one) => matches(one, request))
    const rest = request.order === 'oldest' ? (known.stoppedAt === undefined ? unknown : []) : unknown.toReversed()
    const all = request.order === 'oldest' ? [...known.rows, ...rest] : [...rest, ...known.rows]
    const { rows, ...listed } = await readRows(pageOf({ ...known, rows: all }, request), asked, services)
    const acting = rows.flatMap((row) => row.acting ?? [])
    const keys = acting.flatMap(({ actor }) => actor.key ?? [])
    const [routes, names, members, numbers] = await Promise.all([
      routesOf(
        reader,
        id,
        rows.map(({ revision }) => revision),
      ),
      namesOfOwnKeys(reader, account, keys),
      membersOf(reader, acting),
      services.ordinals.of(rows.flatMap(({ position }) => position ?? [])),
    ])
    const shown = rows.map(({ acting: by, position, ...row }) => ({
      ...row,
      number: position === undefined ? undefined : numbers.get(position),
      by: {
        kind: by?.actor.kind ?? '',
        ...(by?.actor.key !== undefined && names.get(by.actor.key)),
        ...(by && memberIn(by, { members })),
      },
      sent: routes.filter(({ revision }) => revision === row.revision),
    }))
    return { ...listed, rows: shown }
  })
}

/** The rules of each revision of a link, and the visitors that it sent to each destination. */
export const revisionRoutes = (services: RevisionServices): readonly Route[] => [
  endpoint(revisionsContract, 'GET /api/url/:id/revisions', {
    scope: 'read',
    params: byId,
    owner: (call) => requireOwn(call, call.params.id),
    query: listQuery(revisions),
    run: (call) => list(revisions, call, (request) => readPage(call, request, services), present),
  }),
]
