import { z } from 'zod'
import type { Ordinals } from '../../events/ordinals.ts'
import { firstMoment, timestamp, says } from '../../lib/fields.ts'
import { clockIn, momentIn, utc } from '../../lib/zone.ts'
import { BeforeHorizon } from '../../queries/statistics/facts.ts'
import {
  type BreakdownDimension,
  breakdownDimensions,
  type Filtered,
  type FilteredOptions,
  filteredStats,
  TooManyVisits,
} from '../../queries/statistics/filtered.ts'
import type { Subject } from '../../queries/statistics/series.ts'
import { visitedNames } from '../../queries/statistics/visitednames.ts'
import type { Reader } from '../../queries/reader.ts'
import { countryName } from '../../clicks/visitor/country.ts'
import { failField, Failure } from '../api/errors.ts'
import { moment } from '../api/fields.ts'
import { endpoint, type Call, type Route } from '../api/route.ts'
import { type LinkAddresses, short } from '../links/address.ts'
import { classesShape, countedClasses, filterShape, noLabel, readFilters } from './filters.ts'
import { lostOf } from './lost.ts'
import { by, interval, optionsOf, periodProblem, startIn } from './stats.ts'
import { filteredContract } from './contract/series.ts'

/** What filtered statistics need. */
export interface FilteredServices extends LinkAddresses {
  readonly ordinals: Ordinals
  /**
   * Returns how many seconds ago the oldest event with clicks after a position was stored; 0 when there is none, null
   * when the log does not answer.
   */
  readonly clicksBehind: (position: bigint) => Promise<number | null>
}

const rows = z
  .string()
  .optional()
  .transform((text, context) => {
    if (!text) return 100
    const n = /^\d{1,4}$/.test(text) ? Number(text) : 0
    if (n < 1 || n > 1000) context.addIssue(says('out_of_range', { what: 'whole', min: 1, max: 1000 }))
    return n
  })
  .meta({ type: 'integer', minimum: 1, maximum: 1000 })

const Query = z.object({
  ...filterShape,
  from: moment('00:00:00'),
  to: moment('24:00:00'),
  interval,
  by: by(breakdownDimensions),
  classes: classesShape,
  compare: z.enum(['before'], says('not_one_of', { what: 'quoted', values: 'before' })).optional(),
  limit: rows,
})
type Query = z.output<typeof Query>

/** Explains what the tables cannot answer. */
export const explained = (error: unknown): never => {
  if (error instanceof BeforeHorizon) return failField('from', 'not_kept', { first: timestamp(error.horizon) })
  if (error instanceof TooManyVisits)
    return failField('from', 'too_much', { what: 'visits', visits: error.visits, max: error.max })
  throw error
}

/** Returns the statistics of the period of the same length before; null where its clicks are not kept one by one. */
const before = async (reader: Reader, subject: Subject, options: FilteredOptions): Promise<Filtered | null> => {
  if (options.to <= options.from) return null
  return filteredStats(reader, subject, options).catch((error: unknown) => {
    if (error instanceof BeforeHorizon || error instanceof TooManyVisits) return null
    throw error
  })
}
/** Returns the time before that is as long by the clocks of the zone: as many days, of which one may be shorter. */
const timeBefore = ({ from, to, zone = utc }: Pick<FilteredOptions, 'from' | 'to' | 'zone'>) => {
  const [first, last] = [from, to].map((date) => clockIn(zone, date.getTime())) as [number, number]
  return { from: new Date(Math.max(firstMoment.getTime(), momentIn(zone, 2 * first - last))), to: from }
}

const shown = ({ total, points }: Filtered, { from, to, zone }: Pick<FilteredOptions, 'from' | 'to' | 'zone'>) => ({
  from: timestamp(from),
  to: timestamp(to),
  total: { clicks: total.clicks, uniqueClicks: total.uniques, visits: total.visits },
  series: points.map((point) => ({
    ...startIn(zone, point.at),
    clicks: point.clicks,
    uniqueClicks: point.uniques,
    visits: point.visits,
  })),
})

/** Returns the rows of each dimension, with names for people. */
const rowsOf = async (call: Call, { by: counts }: Filtered, addresses: LinkAddresses) => {
  const links = await visitedNames(
    call.reader,
    call.account,
    (counts.link ?? []).map(({ label }) => label),
  )
  const nameOf = (dimension: BreakdownDimension, label: string) => {
    if (dimension === 'country') return countryName(label)
    if (dimension === 'referrer') return label || 'Direct'
    if (dimension !== 'link') return label || (dimension === 'language' || dimension === 'medium' ? 'Unknown' : 'None')
    const found = links.get(label)
    return found === undefined ? '' : 'alias' in found ? short(found, addresses) : found.name
  }
  return Object.fromEntries(
    Object.entries(counts).map(([name, list]) => [
      name,
      list.map(({ label, n }) => ({
        value: label || noLabel,
        name: nameOf(name as BreakdownDimension, label),
        count: n,
      })),
    ]),
  )
}

/** Returns up to which event the figures are complete, and how much later the log has more. */
const through = async (reader: Reader, { ordinals, clicksBehind }: FilteredServices) => {
  const { newestClicks = 0n, clicksUpTo } = reader
  const event = (await ordinals.of([newestClicks])).get(newestClicks) ?? null
  const time = event === null ? undefined : await ordinals.timeOf(event)
  const behind = clicksUpTo === undefined ? await clicksBehind(newestClicks) : 0
  return {
    event,
    at: time === undefined ? null : timestamp(new Date(time)),
    behind: behind === null ? null : Math.round(behind),
  }
}

const statistics = async (call: Call<unknown, Query>, services: FilteredServices) => {
  const { query, reader, zone } = call
  const { compare, limit, by: dimensions, from, to, interval: every, classes: wanted, ...given } = query
  const { subject, filters } = await readFilters(call, given)
  const now = reader.now ?? new Date()
  const time = optionsOf({ from, to, interval: every, zone }, now)
  const tooMuch = periodProblem(time)
  if (tooMuch) throw new Failure(400, tooMuch)
  const classes = await countedClasses(call, wanted)
  const options: FilteredOptions = { ...time, by: dimensions, filters, limit, asThen: classes === 'then' }
  const found = await filteredStats(reader, subject, options).catch(explained)
  const earlier = timeBefore(time)
  const compared = compare === undefined ? undefined : await before(reader, subject, { ...options, ...earlier, by: [] })
  return {
    data: {
      ...shown(found, time),
      interval: every,
      by: await rowsOf(call, found, services),
      ...(compared !== undefined && { before: compared && shown(compared, { ...earlier, zone }) }),
      ...(classes && { classes }),
      through: await through(reader, services),
      ...(await lostOf(call, time)),
    },
  }
}

/** Clicks that have what is asked for: over time, and by everything else that is known of them. */
export const filteredRoutes = (services: FilteredServices): readonly Route[] => [
  endpoint(filteredContract, 'GET /api/stats', {
    statistics: true,
    period: true,
    scope: 'stats:read',
    limited: true,
    query: Query,
    run: (call) => statistics(call, services),
  }),
]
