/**
 * Time zones. What clocks show in a zone is a number of ms here: that of the moment at which clocks in UTC show the
 * same. The differences to UTC are those of the tz database, as the runtime has it.
 */
export const utc = 'UTC'
const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000] as const

/** A zone takes some ten KiB, and its name has many spellings. */
const mostKept = 64
/** moments of a zone whose difference is kept: those at which days begin are asked for again and again */
const mostOffsets = 2000
interface Kept {
  readonly format: Intl.DateTimeFormat
  readonly offsets: Map<number, number>
}
const kept = new Map<string, Kept>()
const formatOf = (zone: string) => {
  const known = kept.get(zone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
  const made: Kept = { format, offsets: new Map() }
  const [oldest] = kept.keys()
  if (kept.size >= mostKept && oldest !== undefined) kept.delete(oldest)
  kept.set(zone, made)
  return made
}

/** Whether a text names a zone of the tz database: `Europe/Berlin`. */
export const isZone = (name: string): boolean => {
  if (!/^[a-z][\w+/-]{0,63}$/i.test(name)) return false
  try {
    return Boolean(formatOf(name))
  } catch {
    return false
  }
}

/** Returns how many ms clocks in a zone are ahead of UTC at a moment. */
export const offsetIn = (zone: string, at: number): number => {
  if (zone === utc) return 0
  const { format, offsets } = formatOf(zone)
  const known = offsets.get(at)
  if (known !== undefined) return known
  const [, sign, ...parts] = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(format.format(at)) ?? []
  const [hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0))
  const offset = (sign === '-' ? -1 : 1) * (hours * hour + minutes * minute + seconds * second)
  if (offsets.size >= mostOffsets) offsets.clear()
  offsets.set(at, offset)
  return offset
}

/** Returns what clocks in a zone show at a moment. */
export const clockIn = (zone: string, at: number): number => at + offsetIn(zone, at)

/** Returns when clocks change that show another difference to UTC at the second moment than at the first. */
const changeBetween = (zone: string, first: number, last: number) => {
  const before = offsetIn(zone, first)
  let [low, high] = [first, last]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetIn(zone, middle) === before) low = middle
    else high = middle
  }
  return high
}

/** Returns the first moment at which clocks in a zone show a time, or a later one where they skip it. */
export const momentIn = (zone: string, clock: number): number => {
  const [before, after] = [clock - day, clock + day].map((at) => offsetIn(zone, at)) as [number, number]
  if (before === after) return clock - before
  const change = changeBetween(zone, clock - day, clock + day)
  return clock - before < change ? clock - before : Math.max(change, clock - after)
}

export const intervals = ['hour', 'day', 'week', 'month'] as const
export type Interval = (typeof intervals)[number]

/** Returns the time so many months before, in UTC: on the last day of a month that has no such day. */
export const monthsBefore = (time: Date, months: number): Date => {
  const month = time.getUTCMonth() - months
  const lastDay = new Date(Date.UTC(time.getUTCFullYear(), month + 1, 0)).getUTCDate()
  return new Date(new Date(time).setUTCMonth(month, Math.min(time.getUTCDate(), lastDay)))
}

/** Returns what clocks show at the start of the day, week or month in which they show a time, or some later. */
const startOf = (clock: number, interval: Exclude<Interval, 'hour'>, later = 0) => {
  const date = new Date(Math.floor(clock / day) * day)
  if (interval === 'month') return date.setUTCMonth(date.getUTCMonth() + later, 1)
  // weeks begin with Monday (ISO 8601)
  const into = interval === 'week' ? (date.getUTCDay() + 6) % 7 : 0
  return date.getTime() + (later * (interval === 'week' ? 7 : 1) - into) * day
}

/** Returns when the next hour of the clocks of a zone begins, or the clocks change. */
const nextHour = (zone: string, at: number) => {
  const offset = offsetIn(zone, at)
  const next = Math.floor((at + offset) / hour) * hour + hour - offset
  if (offsetIn(zone, next) === offset) return { at: next, begins: true }
  const change = changeBetween(zone, at, next)
  const shown = clockIn(zone, change)
  return {
    at: change,
    begins: shown % hour === 0 || Math.floor(shown / hour) !== Math.floor((change - 1 + offset) / hour),
  }
}

const hoursIn = (zone: string, from: number, to: number) => {
  // clocks may have changed since the hour began
  const first = from - 2 * hour
  const starts = [Math.floor(clockIn(zone, first) / hour) * hour - offsetIn(zone, first)]
  for (let { at, begins } = nextHour(zone, first); at < to; { at, begins } = nextHour(zone, at))
    if (begins) starts.push(at)
  return starts.slice(
    Math.max(
      0,
      starts.findLastIndex((start) => start <= from),
    ),
  )
}

/**
 * Returns when the hours, days, weeks or months begin that have a part of a time. They are those of the clocks of a
 * zone: a day may have 23 or 25 hours, and an hour comes twice. What clocks skip is left out.
 */
export const startsIn = (zone: string, from: number, to: number, interval: Interval): readonly number[] => {
  if (interval === 'hour') return hoursIn(zone, from, to)
  const clock = clockIn(zone, from)
  const starts: number[] = []
  for (let n = 0; ; n++) {
    const start = momentIn(zone, startOf(clock, interval, n))
    if (start >= to) return starts
    if (start !== starts.at(-1)) starts.push(start)
  }
}

const two = (n: number) => String(n).padStart(2, '0')

/** Returns what clocks in a zone show at a moment, with their difference to UTC: `2026-03-01T00:00:00+01:00`. */
export const localTime = (zone: string, at: number): string => {
  const offset = offsetIn(zone, at)
  const ahead = Math.abs(Math.round(offset / minute))
  const time = new Date(at + offset).toISOString().slice(0, 19)
  return `${time}${offset < 0 ? '-' : '+'}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`
}
