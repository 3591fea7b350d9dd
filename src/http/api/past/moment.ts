import { parseMoment as parseTime } from '../../../lib/fields.ts'

/**
 * A moment of the past: a time, which means the events stored up to it, or an event by its ordinal, which is included.
 */
export type Moment = { readonly kind: 'time'; readonly at: Date } | { readonly kind: 'event'; readonly ordinal: number }

/** What `parseMoment` accepts, for messages. */
export const momentForms =
  'a date and time in UTC, for example 2026-03-01 12:00:00, or ISO 8601 with an offset, or an event, for example event:123456'

/**
 * Parses a moment. A day alone is none: it would not say whether its beginning or its end is meant. Returns undefined
 * for anything else.
 */
export const parseMoment = (text: string): Moment | undefined => {
  const [, ordinal] = /^event:(0|[1-9]\d{0,14})$/.exec(text) ?? []
  if (ordinal !== undefined) return { kind: 'event', ordinal: Number(ordinal) }
  const second = /[ T]\d\d:/i.test(text) ? parseTime(text, '') : undefined
  if (!second) return undefined
  const [, fraction = '0'] = /:\d\d\.(\d{1,9})/.exec(text) ?? []
  return { kind: 'time', at: new Date(second.getTime() + Math.floor(Number(`0.${fraction}`) * 1000)) }
}
