import type { Context } from 'koa'
import type { Load } from '../../../commands/load.ts'
import type { Ordinals } from '../../../events/ordinals.ts'
import { timestamp } from '../../../lib/fields.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import { BeforeHorizon } from '../../../queries/statistics/facts.ts'
import { ClicksDropped, type Contained, NoPast, type TablesAt } from '../../../queries/history/tablesat.ts'
import { failField } from '../errors.ts'
import { firstValues, zoneOf } from './zone.ts'
import { parseMoment } from './moment.ts'
import type { PresentOnly, Reading, Route } from '../route.ts'

/** The reader and the kind of a read: statistics have connections of their own, so that lists never wait for them. */
export interface ReadBy {
  readonly account: number | undefined
  /** network of the client: networks take turns, too */
  readonly network: string
  readonly statistics: boolean
  /** a page of many rows */
  readonly isLong: boolean
}

/** Sources of answers about one moment. */
export interface Past {
  readonly ordinals: Ordinals
  /** Begins to read the tables of the present. */
  readonly present: (by: ReadBy) => Promise<TablesAt>
  /** Begins to read the tables of an earlier moment; undefined when the service does not keep it. */
  readonly earlier: ((at: Contained, by: ReadBy) => Promise<TablesAt>) | undefined
  /** Reads streams of an earlier moment. */
  readonly loadUntil: (position: bigint) => Load
}

/** The header with the events that an answer contains. */
export const containedHeader = 'Linkledger-At'

/** rows of a page from which on few pages are made at a time */
const manyRows = 100
/** Whether a request is for a page of many rows. */
const isLong = (ctx: Context) => Number(firstValues(ctx.query)['limit'] ?? 0) >= manyRows

const atOf = (ctx: Context) => firstValues(ctx.query)['at'] || undefined

/** Fails with 400 when a request asks for the past where there is none: a client must not take the present for it. */
export const refuseAt = (ctx: Context, what: PresentOnly) => {
  if (atOf(ctx) !== undefined) failField('at', 'present_only', { what })
}

/** ms that an answer waits for the numbers of its events */
const numberingTimeoutMs = 1000

const contents =
  /^domain=(0|[1-9]\d{0,14}), ?clicks=(0|[1-9]\d{0,14})(?:, ?to=(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z))?$/

/** The newest events in an answer, and its time. */
interface PastMoment {
  readonly contained: Contained
  readonly time: Date
}

/** ms that the moment of an answer may be ahead of this process, because another process's clock has set it */
const clocksApart = 300_000

/**
 * Returns a time unless it is later than now and than the newest event, which a process with a fast clock may have
 * stored. Fails with 400 otherwise.
 */
export const notFuture = async (time: Date, ordinals: Ordinals, tolerance = 0): Promise<Date> => {
  const isPast = (now: number) => time.getTime() <= now + tolerance
  if (isPast(Date.now())) return time
  const newest = await ordinals.timeOf((await ordinals.head()) - 1)
  return newest !== undefined && isPast(Date.parse(newest)) ? time : failField('at', 'in_future', {})
}

/** Returns the moment that a client requests. */
const momentOf = async (at: string, zone: string | undefined, ordinals: Ordinals): Promise<PastMoment> => {
  const positionOf = async (ordinal: number) =>
    (await ordinals.positionOf(ordinal)) ?? failField('at', 'in_future', { what: 'event' })
  const timeOf = async (ordinal: number) => new Date((await ordinals.timeOf(ordinal)) ?? Date.now())
  const [, first, second, to] = contents.exec(at) ?? []
  if (first !== undefined && second !== undefined) {
    const [domain, clicks] = [Number(first), Number(second)]
    // the first event is no click: 0 in the header means no clicks
    const contained = { domain: await positionOf(domain), clicks: clicks === 0 ? 0n : await positionOf(clicks) }
    if (to !== undefined) return { contained, time: await notFuture(new Date(to), ordinals, clocksApart) }
    return { contained, time: await timeOf(Math.max(domain, clicks)) }
  }
  const moment = parseMoment(at, Date.now(), zone)
  if (!moment) return failField('at', 'wrong_form', { what: 'past' })
  if (moment.kind === 'event') {
    const position = await positionOf(moment.ordinal)
    return { contained: { domain: position, clicks: position }, time: await timeOf(moment.ordinal) }
  }
  const time = await notFuture(moment.at, ordinals)
  const position = (await ordinals.lastAt(time))?.position ?? 0n
  return { contained: { domain: position, clicks: position }, time }
}

/** Returns the header's value; undefined while an event has no number. */
const headerOf = async ({ domain, clicks }: Contained, ordinals: Ordinals): Promise<string | undefined> => {
  const numbers = await ordinals.of([domain, clicks].filter((position) => position > 0n))
  const [first, second] = [domain, clicks].map((position) => (position === 0n ? 0 : numbers.get(position)))
  return first === undefined || second === undefined ? undefined : `domain=${first}, clicks=${second}`
}

/** Never throws: a failure here must not replace the answer or its error. */
const setHeader = async (ctx: Context, contained: Contained, ordinals: Ordinals, end: Date | undefined) => {
  const value = await numbered(contained, ordinals).catch(() => undefined)
  if (value !== undefined) ctx.set(containedHeader, end ? `${value}, to=${end.toISOString()}` : value)
}

/**
 * Returns whether the answer is about a period that ends with the moment of the answer: then the header has it, too.
 */
const endsNow = (ctx: Context, period: Route['period']) => period === true && !ctx.query['to']

const numbered = async (contained: Contained, ordinals: Ordinals) => {
  const latest = performance.now() + numberingTimeoutMs
  let value = await headerOf(contained, ordinals)
  while (value === undefined && performance.now() < latest) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    value = await headerOf(contained, ordinals)
  }
  return value
}

/** Turns a missing moment into a failure. */
const explain = async (error: unknown, ordinals: Ordinals): Promise<never> => {
  if (error instanceof NoPast) failField('at', 'present_only', {})
  if (error instanceof BeforeHorizon) failField('at', 'not_kept', { first: timestamp(error.horizon) })
  if (!(error instanceof ClicksDropped)) throw error
  const ordinal = (await ordinals.of([error.position])).get(error.position)
  const time = ordinal === undefined ? undefined : await ordinals.timeOf(ordinal)
  // times have whole seconds, and the events of the current second are not complete
  return time === undefined
    ? failField('at', 'not_kept', { what: 'later' })
    : failField('at', 'not_kept', { first: timestamp(new Date(Date.parse(time) + 1000)) })
}

/** These answers read after they have begun, from connections of their own. */
const readLater: ReadonlySet<PresentOnly | undefined> = new Set(['export', 'stream'])

/** Sources of a GET. */
export type ReadingFrom = Pick<Reading, 'reader' | 'pending' | 'load'>

const nonePending: Reading['pending'] = {
  add: () => {},
  has: () => false,
  any: () => false,
  list: () => [],
}

/** Records the newest event of the streams that are read. */
const noting = (load: Load, note: (position: bigint) => void): Load => {
  return async (decider, id) => {
    const loaded = await load(decider, id)
    note(loaded.position)
    return loaded
  }
}

interface Earlier {
  readonly at: string
  /** the zone of days, and of times without an offset */
  readonly zone: string | undefined
  readonly by: ReadBy
  readonly open: boolean
}

/** Throws when the client has its answer, as after a timeout, or is gone: the request may have waited for long. */
const requireClient = ({ res }: Context) => {
  if (res.writableEnded || res.closed) throw new Unavailable('the client no longer waits for the answer')
}

const answerEarlier = async <A>(
  ctx: Context,
  { ordinals, earlier, loadUntil }: Past,
  { at, zone, by, open }: Earlier,
  answer: (from: ReadingFrom) => Promise<A>,
): Promise<A> => {
  if (!earlier) return failField('at', 'present_only', { what: 'replay' })
  const { contained, time } = await momentOf(at, zone, ordinals)
  try {
    const tables = await earlier(contained, by)
    const reader = { ...tables.reader, now: time }
    try {
      requireClient(ctx)
      return await answer({ reader, pending: nonePending, load: loadUntil(contained.domain) })
    } finally {
      await tables.end()
      await setHeader(ctx, contained, ordinals, open ? time : undefined)
    }
  } catch (error) {
    return explain(error, ordinals)
  }
}

/** Answers a GET without a past from the connections of reads, too: those of writes are for short statements. */
const answerNow = async <A>(
  ctx: Context,
  past: Past,
  from: ReadingFrom,
  by: ReadBy,
  answer: (from: ReadingFrom) => Promise<A>,
): Promise<A> => {
  const { reader, end } = await past.present(by)
  try {
    requireClient(ctx)
    return await answer({ ...from, reader })
  } finally {
    void end()
  }
}

/**
 * Answers a GET from tables that do not change meanwhile, those of the moment `at` if given, and names the events that
 * they contain in a header. While the tables are behind, parts of an answer are newer: it has `X-Projection-Pending`
 * then.
 */
export const answerAt = async <A>(
  ctx: Context,
  { nowOnly, statistics, period }: Pick<Route, 'nowOnly' | 'statistics' | 'period'>,
  past: Past | undefined,
  { account, network, ...from }: ReadingFrom & Pick<ReadBy, 'account' | 'network'>,
  answer: (from: ReadingFrom) => Promise<A>,
): Promise<A> => {
  const at = atOf(ctx)
  const by = { account, network, statistics: statistics === true, isLong: account !== undefined && isLong(ctx) }
  if (nowOnly !== undefined || !past) {
    refuseAt(ctx, nowOnly ?? 'service')
    return !past || readLater.has(nowOnly) ? answer(from) : answerNow(ctx, past, from, by, answer)
  }
  const open = endsNow(ctx, period)
  if (at !== undefined) return answerEarlier(ctx, past, { at, zone: zoneOf(firstValues(ctx.query)), by, open }, answer)
  const { contained, reader, end } = await past.present(by)
  // a replay has its own time
  const now = open ? (reader.now ?? new Date()) : undefined
  let newest = contained.domain
  const load = noting(from.load, (position) => {
    if (position > newest) newest = position
  })
  try {
    requireClient(ctx)
    return await answer({ ...from, reader: now ? { ...reader, now } : reader, load })
  } finally {
    void end()
    if (newest > contained.domain) ctx.set('X-Projection-Pending', '1')
    await setHeader(ctx, { ...contained, domain: newest }, past.ordinals, now)
  }
}
