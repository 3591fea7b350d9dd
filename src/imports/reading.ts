import type { Format, SourceNotice } from './records.ts'
import { parseMoment } from '../lib/fields.ts'
import { momentIn } from '../lib/zone.ts'

/** What is known about a source while it is read. */
export interface Reading {
  readonly format: Format
  /** of times that have none */
  readonly timezone: string
  /** Keeps a notice, once. */
  readonly note: (notice: SourceNotice['notice'], params: SourceNotice['params']) => void
  /** Returns the notices since it was called last. */
  readonly notices: () => readonly SourceNotice[]
}

export const startReading = (format: Format, timezone: string): Reading => {
  const known = new Set<string>()
  let found: SourceNotice[] = []
  return {
    format,
    timezone,
    note: (notice, params) => {
      const key = JSON.stringify([notice, params])
      if (known.has(key)) return
      known.add(key)
      found.push({ kind: 'notice', notice, params })
    },
    notices: () => {
      const taken = found
      if (taken.length > 0) found = []
      return taken
    },
  }
}

const zoned = /\d(?:Z|[+-]\d\d:?\d\d)$/i
/** Writes a time as `parseMoment` reads it. */
const plainForm = (text: string) =>
  text
    .replace(/^(\d{4})\/(\d\d)\/(\d\d)/, '$1-$2-$3')
    .replace(/ ?(?:UTC|GMT)$/i, 'Z')
    .replace(/ ([+-]\d\d:?\d\d)$/, '$1')

/**
 * Reads a time: seconds or milliseconds since 1970, or a date with or without time and offset, of which a day gets
 * `timeOfDay`. Returns '' for none, undefined when it cannot be read.
 */
export const readTime = (value: unknown, timeOfDay: string, { timezone, note }: Reading): string | undefined => {
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : undefined
  if (text === undefined || text.length > 64) return undefined
  if (/^(?:0|0000-00-00(?: 00:00:00)?)$/.test(text)) return ''
  if (/^\d{9,13}(?:\.\d{1,9})?$/.test(text)) {
    const time = Number(text)
    return new Date(Math.floor(time < 1e11 ? time : time / 1000) * 1000).toISOString()
  }
  const plain = plainForm(text)
  const clock = parseMoment(plain, timeOfDay)
  if (!clock) return undefined
  if (/[ T]/.test(plain) && zoned.test(plain)) return clock.toISOString()
  note('no_zone', { zone: timezone })
  return new Date(momentIn(timezone, clock.getTime())).toISOString()
}
