import type { OverTime } from '../../../http/statistics/contract/series.ts'
import { shownTime } from '../../core/past.ts'
import { dayIn, momentIn, utcDay, zone } from '../../core/time.ts'

export const periods = ['today', '7d', '30d', 'quarter', 'year', 'all', 'custom'] as const
export type PeriodName = (typeof periods)[number]

/** Days that are looked at, by the starts of these days in UTC: those of the reader are others. `to` is exclusive. */
export interface Period {
  readonly name: PeriodName
  readonly from: Date
  readonly to: Date
  readonly interval: 'hour' | 'day' | 'month'
}

const day = 86_400_000
const daysOf: Readonly<Record<string, number>> = { today: 1, '7d': 7, '30d': 30, quarter: 91, year: 365 }

const isName = (name: string | null): name is PeriodName => periods.some((one) => one === name)
const given = (text: string | null) =>
  text && /^\d{4}-\d\d-\d\d$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined

const intervalOf = (from: Date, to: Date): Period['interval'] => {
  const days = (to.getTime() - from.getTime()) / day
  if (days <= 2) return 'hour'
  return days <= 400 ? 'day' : 'month'
}

/** Returns the period that the address of the page names; `since` is when everything began. */
export const periodOf = (query: URLSearchParams, since: Date, now = shownTime()): Period => {
  const wanted = query.get('period')
  const tomorrow = new Date(dayIn(now).getTime() + day)
  const [from, to] = [given(query.get('from')), given(query.get('to'))]
  if (wanted === 'custom' && from && to && from <= to) {
    const end = new Date(to.getTime() + day)
    return { name: 'custom', from, to: end, interval: intervalOf(from, end) }
  }
  const name = isName(wanted) && wanted !== 'custom' ? wanted : '30d'
  const begin = name === 'all' ? dayIn(since) : new Date(tomorrow.getTime() - (daysOf[name] ?? 30) * day)
  return { name, from: begin, to: tomorrow, interval: intervalOf(begin, tomorrow) }
}

/** Whether the last interval of a period is not over. */
export const isUnfinished = ({ to }: Period) => to > dayIn(shownTime())

/** Returns the period of the same length before. */
export const periodBefore = ({ name, from, to, interval }: Period): Period => ({
  name,
  from: new Date(from.getTime() - (to.getTime() - from.getTime())),
  to: from,
  interval,
})

/** 2026-03-25, of a day of a period */
export const isoDay = (date: Date) => date.toISOString().slice(0, 10)

/** Returns a period as the query of the statistics. */
export const periodQuery = ({ from, to, interval }: Period): string =>
  new URLSearchParams({ from: isoDay(from), to: isoDay(lastDay({ to })), interval, tz: zone.value }).toString()

/** Returns the last day of a period, which is part of it. */
export const lastDay = ({ to }: Pick<Period, 'to'>) => new Date(to.getTime() - day)

/** 25 March 2026 – 23 April 2026 */
export const periodInWords = (period: Period): string =>
  period.to.getTime() - period.from.getTime() <= day
    ? utcDay(period.from)
    : `${utcDay(period.from)} – ${utcDay(lastDay(period))}`

/** What is drawn: clicks, those of visitors who came for the first time, or all requests. */
export type Metric = 'clicks' | 'uniqueClicks' | 'visits'

/** What a chart has as a table. */
export interface FiguresProps {
  readonly data: OverTime & { readonly before?: OverTime | null | undefined }
  readonly metric: Metric
  readonly period: Period
}

/**
 * Returns what the visits of an interval have in common, as the list of visits takes it: an hour by its start and end,
 * a day or a month by its days, of which a period may begin or end within a month. `next` is when the next one begins.
 */
export const visitsIn = (
  interval: Period['interval'],
  at: Date,
  next: Date | undefined,
  { from, to }: Pick<Period, 'from' | 'to'>,
): Readonly<Record<string, string>> => {
  if (interval === 'hour') {
    const end = next ?? momentIn(`${isoDay(to)}T00:00`)
    return { hour: at.toISOString(), until: end.toISOString() }
  }
  const first = dayIn(at)
  const end = next ? dayIn(next) : to
  return {
    period: 'custom',
    from: isoDay(first < from ? from : first),
    to: isoDay(lastDay({ to: end > to ? to : end })),
  }
}
