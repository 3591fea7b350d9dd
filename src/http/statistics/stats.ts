import { z } from 'zod'
import { firstMoment, says, timestamp } from '../../lib/fields.ts'
import { type Problem, problem } from '../../lib/problems/problem.ts'
import { type Interval, intervals, localTime } from '../../lib/zone.ts'
import {
  clickSeries,
  type SeriesDimension,
  seriesDimensions,
  type SeriesOptions,
  type Subject,
} from '../../queries/statistics/series.ts'
import { importedOfAccount, importedOfLink } from '../../queries/links/imported.ts'
import { BeforeHorizon } from '../../queries/statistics/facts.ts'
import { countryName } from '../../clicks/visitor/country.ts'
import { failField, Failure } from '../api/errors.ts'
import { byId, moment } from '../api/fields.ts'
import { type Call, endpoint, type Route } from '../api/route.ts'
import { readLink } from '../links/link.ts'
import { accountContract } from '../accounts/contract/account.ts'
import { linkStatsContract } from './contract/series.ts'

const maxIntervals = 2000
const ms: Record<Interval, number> = {
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
  month: 28 * 86_400_000,
}
/** The variants of one link are no more than a number to another. */
const accountDimensions = seriesDimensions.filter((name) => name !== 'variant' && name !== 'address')

export const interval = z
  .preprocess((text) => text || 'day', z.enum(intervals, says('not_one_of', { values: intervals.join(', ') })))
  .default('day')
/** Any of some dimensions, separated by commas. */
export const by = <D extends string>(known: readonly D[]) =>
  z
    .string()
    .optional()
    .transform((text = '') => [...new Set(text.split(',').filter(Boolean))])
    .refine(
      (names) => names.every((name) => known.some((one) => one === name)),
      says('not_one_of', { what: 'any', values: known.join(', ') }),
    )
    .transform((names) => names.flatMap((name) => known.find((one) => one === name) ?? []))

const daysBefore = (date: Date, days: number) =>
  new Date(Math.max(date.getTime() - days * ms.day, firstMoment.getTime()))

/** A time that may have no beginning or no end. */
interface OpenPeriod extends Pick<SeriesOptions, 'interval'> {
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

type SeriesQuery = OpenPeriod & Pick<SeriesOptions, 'by'>

/** The default is the last thirty days, by day. */
export const optionsOf = <A extends OpenPeriod>({ from, to: end, ...rest }: A, now: Date) => {
  const to = end ?? now
  return { from: from ?? daysBefore(to, 30), to, ...rest }
}

/** Returns what is wrong with a period. */
export const periodProblem = ({ from, to, interval }: Omit<SeriesOptions, 'by'>): Problem | undefined => {
  if (from >= to) return problem('wrong_order', { what: 'to', field: 'from' })
  if ((to.getTime() - from.getTime()) / ms[interval] <= maxIntervals) return undefined
  return problem('too_much', { what: 'intervals', field: 'interval', max: maxIntervals })
}

const seriesQuery = (known: readonly SeriesDimension[]) =>
  z.object({ from: moment('00:00:00'), to: moment('24:00:00'), interval, by: by(known) })

const labels: Record<SeriesDimension, (label: string) => string> = {
  country: countryName,
  referrer: (label) => label || 'Direct',
  browser: (label) => label,
  os: (label) => label,
  device: (label) => label,
  language: (label) => label || 'Unknown',
  source: (label) => label,
  variant: (label) => label || 'None',
  medium: (label) => label || 'Unknown',
  address: (label) => label,
}

/** Returns the start of an interval, and what clocks of the reader show then. */
export const startIn = (zone: string | undefined, at: Date) => ({
  at: timestamp(at),
  ...(zone !== undefined && { local: localTime(zone, at.getTime()) }),
})

const statistics = async (subject: Subject, { query, reader, zone }: Call<unknown, SeriesQuery>) => {
  // a period that ends with a moment of the past begins before it, too
  const options = optionsOf(query, reader.now ?? new Date())
  const wrong = periodProblem(options)
  if (wrong) throw new Failure(400, wrong)
  const { from, to, interval } = options
  const { total, points, by } = await clickSeries(reader, subject, { ...options, zone }).catch((error: unknown) => {
    if (!(error instanceof BeforeHorizon)) throw error
    return failField('from', 'not_kept', { first: timestamp(error.horizon) })
  })
  const { clicks, uniques, visits, suspects } = total
  const imported = await ('link' in subject
    ? importedOfLink(reader, subject.link)
    : importedOfAccount(reader, subject.account))
  const others = options.by.flatMap((name) => (by[name]?.others ? [[name, by[name].others] as const] : []))
  return {
    data: {
      from: timestamp(from),
      to: timestamp(to),
      interval,
      total: { clicks, uniqueClicks: uniques, visits, suspects },
      ...(imported.clicks > 0 && { imported: imported.clicks }),
      series: points.map(({ at, clicks: n, uniques: first }) => ({
        ...startIn(zone, at),
        clicks: n,
        uniqueClicks: first,
      })),
      by: Object.fromEntries(
        options.by.map((name) => [
          name,
          Object.fromEntries((by[name]?.counts ?? []).map(({ label, n }) => [labels[name](label), n])),
        ]),
      ),
      ...(others.length > 0 && { others: Object.fromEntries(others) }),
    },
  }
}

/** Clicks over time, of one link or of all links and QR codes of the account. */
export const seriesRoutes = (): readonly Route[] => [
  endpoint(linkStatsContract, 'GET /api/url/:id/stats', {
    statistics: true,
    period: true,
    scope: 'stats:read',
    params: byId,
    // from the tables: statistics do not need the event store
    owner: (call) => readLink(call, call.params.id),
    query: seriesQuery(seriesDimensions),
    run: (call) => statistics({ link: call.params.id }, call),
  }),
  endpoint(accountContract, 'GET /api/account/stats', {
    statistics: true,
    period: true,
    scope: 'stats:read',
    query: seriesQuery(accountDimensions),
    run: (call) => statistics({ account: call.account }, call),
  }),
]
