import { utc } from '../../../lib/zone.ts'
import { parseIn } from './zone.ts'

/**
 * A moment of the past: a time, which means the events stored up to it, or an event by its ordinal, which is included.
 */
export type Moment = { readonly kind: 'time'; readonly at: Date } | { readonly kind: 'event'; readonly ordinal: number }

const isDay = /^\d{4}-\d\d-\d\d$/

/** What `parseMoment` accepts, for messages. */
export const momentForms =
  'a date and time in UTC, for example 2026-03-01 12:00:00, a day for its end, ISO 8601 with an offset, or an event, for example event:123456'

/** Returns the end of a day; of today, the time that it is now. */
const endOf = (day: Date, next: Date, now: number) =>
  new Date(day.getTime() <= now ? Math.min(next.getTime() - 1, now) : next.getTime() - 1)

/** Parses a moment. A day means its end in the zone, and today means now. Returns undefined for anything else. */
export const parseMoment = (text: string, now = Date.now(), zone = utc): Moment | undefined => {
  const [, ordinal] = /^event:(0|[1-9]\d{0,14})$/.exec(text) ?? []
  if (ordinal !== undefined) return { kind: 'event', ordinal: Number(ordinal) }
  const [day, next] = ['00:00:00', '24:00:00'].map((time) => (isDay.test(text) ? parseIn(zone, text, time) : undefined))
  if (day && next) return { kind: 'time', at: endOf(day, next, now) }
  const second = /[ T]\d\d:/i.test(text) ? parseIn(zone, text, '') : undefined
  if (!second) return undefined
  const [, fraction = '0'] = /:\d\d\.(\d{1,9})/.exec(text) ?? []
  return { kind: 'time', at: new Date(second.getTime() + Math.floor(Number(`0.${fraction}`) * 1000)) }
}
