import type { Format, SourceNotice } from './records.ts'
import { isWithinYears, parseMoment } from '../lib/fields.ts'
import { momentIn } from '../lib/zone.ts'

/** notices of one kind, and characters of a text in one: a file may have millions */
const most = { notices: 100, text: 200 } as const

/** What is said once about a source. */
interface Notices {
  /** Keeps a notice, once, and as short as a line of a report. */
  readonly note: (notice: SourceNotice['notice'], params: SourceNotice['params']) => void
  /** Returns the notices since it was called last. */
  readonly notices: () => readonly SourceNotice[]
  /** Returns those that are left at the end of the source, and how many were not kept. */
  readonly lastNotices: () => readonly SourceNotice[]
}

/** What is known about a source while it is read. */
export interface Reading extends Notices {
  readonly format: Format
  /** of times that have none */
  readonly timezone: string
}

const shortened = (value: string | number) => (typeof value === 'string' ? value.slice(0, most.text) : value)

export const startNotices = (): Notices => {
  const known = new Set<string>()
  const counts = new Map<SourceNotice['notice'], number>()
  let found: SourceNotice[] = []
  let more = 0
  const notices = () => {
    const taken = found
    if (taken.length > 0) found = []
    return taken
  }
  return {
    note: (notice, given) => {
      const params = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, shortened(value)]))
      const key = JSON.stringify([notice, params])
      if (known.has(key)) return
      const count = (counts.get(notice) ?? 0) + 1
      if (count > most.notices) return void more++
      counts.set(notice, count)
      known.add(key)
      found.push({ kind: 'notice', notice, params })
    },
    notices,
    lastNotices: () => [
      ...notices(),
      ...(more > 0 ? [{ kind: 'notice', notice: 'more', params: { notices: more } } as const] : []),
    ],
  }
}

export const startReading = (format: Format, timezone: string): Reading => ({ format, timezone, ...startNotices() })

const zoned = /\d(?:Z|[+-]\d\d:?\d\d)$/i
/** Writes a time as `parseMoment` reads it. */
const plainForm = (text: string) =>
  text
    .replace(/^(\d{4})\/(\d\d)\/(\d\d)/, '$1-$2-$3')
    .replace(/ ?(?:UTC|GMT)$/i, 'Z')
    .replace(/ ([+-]\d\d:?\d\d)$/, '$1')

/** in s since 1970, the last day that most databases know, with the second at which it ends: their word for `never` */
const [lastDay, lastDayEnds] = [253_402_214_400, 253_402_300_800]
const isInLastDay = (seconds: number) => seconds >= lastDay && seconds <= lastDayEnds

/** Whether a time is in the last day of the year 9999 in its own zone: that means `never`. */
export const isNever = (value: unknown): boolean => {
  const text = String(typeof value === 'number' || typeof value === 'string' ? value : '').trim()
  if (/^\d{12,15}(?:\.\d{1,9})?$/.test(text)) return isInLastDay(Number(text)) || isInLastDay(Number(text) / 1000)
  return /^9999[-/]12[-/]31(?!\d)/.test(text) && text.length <= 64
}

/** Returns a time as ISO 8601, undefined where its year has not four digits: it would not compare with others. */
const isoOf = (time: number) => {
  const date = new Date(time)
  return isWithinYears(date) ? date.toISOString() : undefined
}

/**
 * Reads a time: seconds or milliseconds since 1970, or a date with or without time and offset, of which a day gets
 * `timeOfDay`. Returns '' for none, undefined when it cannot be read, or is none.
 */
export const readTime = (value: unknown, timeOfDay: string, { timezone, note }: Reading): string | undefined => {
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : undefined
  if (text === undefined || text.length > 64) return undefined
  if (/^(?:0|0000-00-00(?: 00:00:00)?)$/.test(text)) return ''
  if (/^\d{9,13}(?:\.\d{1,9})?$/.test(text)) {
    const time = Number(text)
    return isoOf(Math.floor(time < 1e11 || isInLastDay(time) ? time : time / 1000) * 1000)
  }
  const plain = plainForm(text)
  const clock = parseMoment(plain, timeOfDay)
  if (!clock) return undefined
  if (/[ T]/.test(plain) && zoned.test(plain)) return isoOf(clock.getTime())
  note('no_zone', { zone: timezone })
  return isoOf(momentIn(timezone, clock.getTime()))
}
