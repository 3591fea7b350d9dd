import type { Context } from 'koa'
import { firstMoment, lastMoment, parseMoment } from '../../../lib/fields.ts'
import { isZone, momentIn } from '../../../lib/zone.ts'
import { failField } from '../errors.ts'
import type { Query } from '../route.ts'

/** Returns the parameters of a query, of a repeated one the first. */
export const firstValues = (query: Context['query']): Query =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value].flat()[0] ?? '']))

/** Returns the time zone of the reader; undefined: days and times are those of UTC. */
export const zoneOf = ({ tz }: Query): string | undefined => {
  if (!tz) return undefined
  return isZone(tz) ? tz : failField('tz', 'wrong_form', { what: 'zone' })
}

/** A day, or a time that does not say its difference to UTC. */
const isLocal = /^\d{4}-\d\d-\d\d(?:[ T][\d:.]+)?$/i

/** Parses a time or day as `parseMoment` does, by the clocks of a zone. */
export const parseIn = (zone: string, text: string, timeOfDay: string): Date | undefined => {
  const found = parseMoment(text, timeOfDay)
  if (!found || !isLocal.test(text)) return found
  const at = momentIn(zone, found.getTime())
  return new Date(Math.min(Math.max(at, firstMoment.getTime()), lastMoment.getTime()))
}

/** Returns a query with its period in UTC. What is no time is left to the schema. */
export const inUtc = (query: Query): Query => {
  const zone = zoneOf(query)
  if (zone === undefined) return query
  const read = (name: 'from' | 'to', timeOfDay: string) => {
    const found = parseIn(zone, query[name] ?? '', timeOfDay)
    return found && { [name]: found.toISOString() }
  }
  return { ...query, ...read('from', '00:00:00'), ...read('to', '24:00:00') }
}
