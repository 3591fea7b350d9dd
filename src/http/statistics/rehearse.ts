import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { refuse } from '../../commands/decider.ts'
import type { Handler } from '../../commands/handle.ts'
import { link } from '../../commands/links/link.ts'
import type { Link } from '../../commands/links/state.ts'
import { numbered } from '../../commands/links/variants.ts'
import { completed, type LinkFields } from '../../events/links/link.ts'
import type { EventStore } from '../../events/store.ts'
import { streamId } from '../../events/streams.ts'
import { isUnknown } from '../../events/unknown.ts'
import { must, says, timestamp } from '../../lib/fields.ts'
import { clicksKeptSince } from '../../queries/statistics/recorded.ts'
import { isZone } from '../../lib/zone.ts'
import { readOneMoment, type Reader } from '../../queries/reader.ts'
import { alikeVisits, nthClick, type Period, revisionsIn, sentTo } from '../../queries/statistics/rehearse.ts'
import type { Target } from '../../queries/links/target.ts'
import { requireAdmitted } from '../api/admit.ts'
import { failField } from '../api/errors.ts'
import { bodyId, byId, moment } from '../api/fields.ts'
import { effectOf, waitingProposal } from '../approvals/proposed.ts'
import { requireSeen } from '../approvals/seen.ts'
import { limitToOne } from '../api/limits/concurrency.ts'
import { inUtc } from '../api/past/zone.ts'
import { endpoint, type Call, type Query, type Route } from '../api/route.ts'
import { readLink } from '../links/link.ts'
import type { LinkChecks } from '../links/allowed.ts'
import { LinkChanges, sentFields } from '../links/body.ts'
import { askedBy, createTally, decidingTarget, rehearse } from './rehearsal.ts'
import { rehearseContract } from './contract/rehearse.ts'

/** Dependencies of rehearsals. */
export interface RehearseServices extends LinkChecks {
  readonly readStream: EventStore['read']
  readonly handler: Pick<Handler, 'load' | 'steps'>
}

/** The fields of a link that decide where its visitors go. */
const deciding = LinkChanges.pick({
  url: true,
  geotarget: true,
  devicetarget: true,
  browsertarget: true,
  languagetarget: true,
  variants: true,
  parameters: true,
  starts: true,
  expiry: true,
  expired_url: true,
  max_clicks: true,
})
const Draft = z.object(deciding.shape, must('wrong_type', { what: 'object' }))

const day = 86_400_000
/** maximum destinations and moves in an answer */
const most = 500
/** kinds of visits to decide in one turn of the event loop */
const perTurn = 2000

const zone = z.string(must('wrong_type', { what: 'string' })).refine(isZone, says('wrong_form', { what: 'zone' }))
const Fields = z
  .object({
    draft: Draft.optional(),
    proposal: bodyId.optional(),
    from: moment('00:00:00'),
    to: moment('24:00:00'),
    tz: zone.optional(),
  })
  .transform(({ to = new Date(), from = new Date(to.getTime() - 30 * day), ...rest }) => ({ ...rest, from, to }))
  .refine(({ from, to }) => from < to, { path: ['from'], error: says('wrong_order', { what: 'to' }) })
/** query of a period in another zone than UTC; `Fields` reports other problems */
const Zoned = z.looseObject({ tz: zone, from: z.string().optional(), to: z.string().optional() })
const Body = z.preprocess((sent) => {
  const { data } = Zoned.safeParse(sent)
  return data ? inUtc(data as Query) : sent
}, Fields)
type Body = z.output<typeof Body>

/** each takes a connection and a large part of a core */
const begin = limitToOne('rehearsal', 2)

/** Returns the fields of a link at some of its revisions, except those that only a newer release can read. */
const fieldsAt = async ({ readStream }: RehearseServices, id: number, revisions: readonly number[]) => {
  const wanted = new Set(revisions)
  const found = new Map<number, LinkFields>()
  const last = Math.max(-1, ...revisions)
  if (last < 0) return found
  let state = link.initialState
  for await (const event of readStream(streamId('link', id), 0n, last + 1)) {
    if (isUnknown(event)) break
    state = link.evolve(state, event as Parameters<typeof link.evolve>[1])
    if (wanted.has(Number(event.revision))) found.set(Number(event.revision), completed(state.fields))
  }
  return found
}

/** Returns the link with the fields of the draft. Other fields stay as they are now. */
const drafted = async (call: Call, id: number, draft: z.output<typeof Draft>, services: RehearseServices) => {
  const fields = completed((await call.load(link, id)).state.fields)
  const { variants, ...changes } = await sentFields(draft, call, services)
  return decidingTarget({ ...fields, ...changes, ...(variants && numbered(variants, fields)) } as LinkFields, id)
}

/** Returns the link after a proposal. Throws `Refused` (`not_found`) for a proposal of another link. */
const proposed = async (call: Call, id: number, number: number, { handler }: RehearseServices) => {
  const waiting = await waitingProposal(handler, call.account, number)
  if (waiting.kind !== link.kind || waiting.target !== id) refuse('not_found', { what: 'proposal' })
  await requireSeen(call, waiting)
  const { after } = await effectOf(handler, waiting)
  return decidingTarget(completed((after as Link).fields), id)
}

/** The rules of a time, for visits that they let through. */
const passed = (fields: LinkFields, id: number) =>
  decidingTarget(fields, id, { starts: null, expiry: null, max_clicks: null })

/** Fails if the requested clicks are no longer kept one by one. */
const requireFacts = async (reader: Reader, { from }: Period, target: Target | undefined) => {
  const kept = await clicksKeptSince(reader)
  if (kept === null) return
  if (from < kept) failField('from', 'not_kept', { what: 'rehearsal', first: timestamp(kept) })
  if (target && target.max_clicks !== null && (target.starts ?? new Date(0)) < kept)
    failField('draft.max_clicks', 'not_kept', { what: 'limit' })
}

interface Rehearsal {
  readonly period: Period
  /** undefined: the rules in force */
  readonly draft: Target | undefined
  readonly isOurHost: (host: string) => boolean
  readonly signal: AbortSignal
  readonly requireAdmitted: () => Promise<void>
}

const run = async (reader: Reader, rehearsal: Rehearsal, services: RehearseServices) => {
  const { period, draft, isOurHost, signal, requireAdmitted } = rehearsal
  await requireFacts(reader, period, draft)
  const revisions = await revisionsIn(reader, period)
  const fields = await fieldsAt(services, period.link, revisions)
  const inForce = new Map([...fields].map(([revision, then]) => [revision, passed(then, period.link)]))
  const moments = [draft?.starts, draft?.expiry].flatMap((one) => one ?? []).toSorted((a, b) => Number(a) - Number(b))
  const timeOf = (phase: number) => (moments[phase - 1] ?? new Date(Number(moments[0] ?? 1) - 1)).getTime()
  const limit = draft?.max_clicks ?? null
  const last = limit === null ? undefined : await nthClick(reader, period.link, limit, draft?.starts ?? new Date(0))
  const tally = createTally(await sentTo(reader, period.link))
  const asked = askedBy(draft ? [draft] : [...inForce.values()])
  for await (const batch of alikeVisits(reader, period, { asked, moments, last })) {
    for (const [n, visits] of batch.entries()) {
      if (n % perTurn === perTurn - 1) await nextTurn()
      const then = inForce.get(visits.route.revision)
      const target = draft ?? then
      const options = { inForce: then, again: !draft, at: timeOf(visits.phase), isOurHost }
      tally.add(visits, target ? rehearse(visits, { target, ...options }) : { reason: 'revision' })
    }
    signal.throwIfAborted()
    await requireAdmitted()
  }
  const { destinations, moves, ...counts } = tally.result()
  return {
    ...counts,
    destinations: destinations.slice(0, most),
    moves: moves.slice(0, most),
    left_out: { destinations: Math.max(0, destinations.length - most), moves: Math.max(0, moves.length - most) },
  }
}

const rehearseLink = async (call: Call<{ id: number }, unknown, Body>, services: RehearseServices) => {
  const { id } = call.params
  const { from, to, draft, proposal } = call.body
  const { lost, end } = begin(call)
  try {
    const target =
      proposal === undefined
        ? draft && (await drafted(call, id, draft, services))
        : await proposed(call, id, proposal, services)
    // the rules of that time let recorded clicks through, even if a destination is one of our hosts by now
    const isOurHost = target ? services.isOurHost : () => false
    const [signal, stillAdmitted] = [AbortSignal.any([call.gone(), lost]), () => requireAdmitted(call)]
    const period = { link: id, from, to }
    const rehearsal = { period, draft: target, isOurHost, signal, requireAdmitted: stillAdmitted }
    const found = await readOneMoment(call.reader, (moment) => run(moment, rehearsal, services))
    return { data: { from: timestamp(from), to: timestamp(to), draft: target !== undefined, ...found } }
  } finally {
    end()
  }
}

/** Shows where recorded clicks would have gone by other rules. Changes nothing. */
export const rehearseRoutes = (services: RehearseServices): readonly Route[] => [
  endpoint(rehearseContract, 'POST /api/url/:id/rehearse', {
    scope: 'stats:read',
    params: byId,
    owner: (call) => readLink(call, call.params.id),
    body: Body,
    run: (call) => rehearseLink(call, services),
  }),
]
