import { shownTime } from '../../core/past.ts'
import { dayOf, stamp } from '../../core/time.ts'

export const periods = ['today', '7d', '30d', 'quarter', 'year', 'all', 'custom'] as const
export type PeriodName = (typeof periods)[number]

/** Days that are looked at. `to` is exclusive. */
export interface Period {
  readonly name: PeriodName
  readonly from: Date
  readonly to: Date
  readonly interval: 'hour' | 'day' | 'month'
}

const day = 86_400_000
const startOfDay = (date: Date) => new Date(Math.floor(date.getTime() / day) * day)
const daysOf: Readonly<Record<string, number>> = { today: 1, '7d': 7, '30d': 30, quarter: 91, year: 365 }

const isName = (name: string | null): name is PeriodName => periods.some((one) => one === name)
const dayIn = (text: string | null) =>
  text && /^\d{4}-\d\d-\d\d$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined

const intervalOf = (from: Date, to: Date): Period['interval'] => {
  const days = (to.getTime() - from.getTime()) / day
  if (days <= 2) return 'hour'
  return days <= 400 ? 'day' : 'month'
}

/** Returns the period that the address of the page names; `since` is when everything began. */
export const periodOf = (query: URLSearchParams, since: Date, now = shownTime()): Period => {
  const given = query.get('period')
  const tomorrow = new Date(startOfDay(now).getTime() + day)
  const [from, to] = [dayIn(query.get('from')), dayIn(query.get('to'))]
  if (given === 'custom' && from && to && from <= to) {
    const end = new Date(to.getTime() + day)
    return { name: 'custom', from, to: end, interval: intervalOf(from, end) }
  }
  const name = isName(given) && given !== 'custom' ? given : '30d'
  const begin = name === 'all' ? startOfDay(since) : new Date(tomorrow.getTime() - (daysOf[name] ?? 30) * day)
  return { name, from: begin, to: tomorrow, interval: intervalOf(begin, tomorrow) }
}

/** Returns the period of the same length before. */
export const periodBefore = ({ name, from, to, interval }: Period): Period => ({
  name,
  from: new Date(from.getTime() - (to.getTime() - from.getTime())),
  to: from,
  interval,
})

/** Returns a period as the query of the statistics. */
export const periodQuery = ({ from, to, interval }: Period): string =>
  new URLSearchParams({ from: stamp(from), to: stamp(to), interval }).toString()

/** Returns the last day of a period, which is part of it. */
export const lastDay = ({ to }: Period) => new Date(to.getTime() - day)

/** 25 March 2026 – 23 April 2026 */
export const periodInWords = (period: Period): string =>
  period.to.getTime() - period.from.getTime() <= day
    ? dayOf(period.from)
    : `${dayOf(period.from)} – ${dayOf(lastDay(period))}`
