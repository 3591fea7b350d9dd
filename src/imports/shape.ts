import type { Values } from './link.ts'
import type { Place } from './records.ts'

type Fields = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Parts of a record whose fields count as its own: those of Shlink and GemPixel. */
const parts = new Set(['meta', 'details', 'data'])

const fieldsOf = (record: Fields): readonly (readonly [string, unknown])[] =>
  Object.entries(record).flatMap(([name, value]): readonly (readonly [string, unknown])[] => {
    if (parts.has(name) && isObject(value)) return Object.entries(value)
    // Shlink has the number of visits without bots since 3.6
    if (name === 'visitsSummary' && isObject(value)) return [['visits', value['nonBots'] ?? value['total']]]
    if (name === 'visitsCount' && 'visitsSummary' in record) return []
    if (name === 'domain' && isObject(value)) return [[name, value['fullName'] ?? value['name']]]
    return [[name, value]]
  })

/** Returns the values of an object of a JSON file or an API. */
export const valuesOf = (record: object): Values => fieldsOf(record as Fields).map(([name, value]) => ({ name, value }))

/** Returns the place of an object in its source; undefined if the object does not have it. */
export const idOf = (record: object): Place | undefined => {
  const { id, shortUrl, details } = record as Fields
  const found = id ?? shortUrl ?? (isObject(details) ? details['id'] : undefined)
  return (typeof found === 'string' && found !== '') || typeof found === 'number'
    ? { id: String(found).slice(0, 300) }
    : undefined
}
