import type { Interval } from '../../src/lib/zone.ts'

const formats = new Map<string, Intl.DateTimeFormat>()
const formatOf = (timeZone: string) => {
  const known = formats.get(timeZone)
  if (known) return known
  const digits = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', hourCycle: 'h23' } as const
  const made = new Intl.DateTimeFormat('en', { timeZone, ...digits, timeZoneName: 'longOffset' })
  formats.set(timeZone, made)
  return made
}

const pages = new Map<string, string>()

/**
 * Returns the hour, day, week or month that a calendar on a wall in a zone has for a moment. An hour that comes twice is
 * two, by its difference to UTC.
 */
export const onCalendar = (zone: string, at: Date | string, interval: Interval): string => {
  // clocks of all zones change at quarters of an hour, and many moments lie in one
  const quarter = Math.floor(new Date(at).getTime() / 900_000)
  const asked = `${zone} ${quarter} ${interval}`
  const page = pages.get(asked) ?? pageOf(zone, quarter * 900_000, interval)
  pages.set(asked, page)
  return page
}

const pageOf = (zone: string, at: number, interval: Interval): string => {
  const parts = formatOf(zone).formatToParts(at)
  const part = Object.fromEntries(parts.map(({ type, value }) => [type, value]))
  const { year, month, day, hour, timeZoneName } = part
  if (interval === 'month') return `${year}-${month}`
  const date = `${year}-${month}-${day}`
  if (interval === 'day') return date
  if (interval === 'hour') return `${date} ${hour} ${timeZoneName}`
  const noon = new Date(`${date}T12:00:00Z`)
  // back to Monday
  noon.setUTCDate(noon.getUTCDate() - ((noon.getUTCDay() + 6) % 7))
  return noon.toISOString().slice(0, 10)
}
