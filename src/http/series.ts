import {
  clickSeries,
  type Interval,
  type SeriesDimension,
  seriesDimensions,
  type SeriesOptions,
  type Subject,
} from '../queries/series.ts'
import { countryName } from '../visitor/country.ts'
import { fail } from './api/errors.ts'
import { readLink } from './link.ts'
import { route, type Services } from './api/route.ts'
import { moment, timestamp } from './api/fields.ts'

const mostIntervals = 2000
const ms: Record<Interval, number> = { hour: 3_600_000, day: 86_400_000, month: 28 * 86_400_000 }
const intervals = Object.keys(ms) as Interval[]
const isInterval = (text: string): text is Interval => (intervals as string[]).includes(text)
const isDimension = (text: string): text is SeriesDimension => (seriesDimensions as readonly string[]).includes(text)

const time = (query: Readonly<Record<string, string>>, name: 'from' | 'to', otherwise: Date) => {
  const text = query[name]
  if (!text) return otherwise
  const found = moment(text, name === 'from' ? '00:00:00' : '24:00:00')
  return found ?? fail(400, `${name}: must be a timestamp like 2030-01-31 18:00:00, or a day like 2030-01-31.`)
}

/** What is asked; the default is the last thirty days, by day. */
const asked = (query: Readonly<Record<string, string>>): SeriesOptions => {
  const to = time(query, 'to', new Date())
  const from = time(query, 'from', new Date(to.getTime() - 30 * ms.day))
  const interval = query['interval'] || 'day'
  if (!isInterval(interval)) return fail(400, `interval: must be one of ${intervals.join(', ')}.`)
  if (from >= to) return fail(400, 'from: must be before to.')
  if ((to.getTime() - from.getTime()) / ms[interval] > mostIntervals)
    return fail(
      400,
      `interval: there are more than ${mostIntervals.toLocaleString('en')} between from and to, choose a longer one.`,
    )
  const by = (query['by'] ?? '').split(',').filter(Boolean)
  const unknown = by.find((name) => !isDimension(name))
  if (unknown !== undefined) return fail(400, `by: must be any of ${seriesDimensions.join(', ')}.`)
  return { from, to, interval, by: [...new Set(by.filter(isDimension))] }
}

const labels: Record<SeriesDimension, (label: string) => string> = {
  country: countryName,
  referrer: (label) => label || 'Direct',
  browser: (label) => label,
  os: (label) => label,
  device: (label) => label,
  language: (label) => label || 'Unknown',
  source: (label) => label,
}

const statistics = async (subject: Subject, options: SeriesOptions, { reader }: Services) => {
  const { from, to, interval } = options
  const { total, points, by } = await clickSeries(reader, subject, options)
  const { clicks, uniques, visits, suspects } = total
  return {
    data: {
      from: timestamp(from),
      to: timestamp(to),
      interval,
      total: { clicks, uniqueClicks: uniques, visits, suspects },
      series: points.map((point) => ({ at: timestamp(point.at), clicks: point.clicks, uniqueClicks: point.uniques })),
      by: Object.fromEntries(
        options.by.map((name) => [
          name,
          Object.fromEntries((by[name] ?? []).map(({ label, n }) => [labels[name](label), n])),
        ]),
      ),
    },
  }
}

/** Clicks in time, of one link and of all that the account has. */
export const seriesRoutes = [
  route({
    method: 'get',
    path: '/api/url/:id/stats',
    run: async (call, services) => {
      const { id } = await readLink(call, services)
      return statistics({ link: id }, asked(call.query), services)
    },
  }),
  route({
    method: 'get',
    path: '/api/account/stats',
    run: async ({ account, query }, services) => statistics({ account }, asked(query), services),
  }),
]
