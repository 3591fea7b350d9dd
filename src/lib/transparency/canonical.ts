/**
 * How objects with these keys, in this order, are written: the places of the keys in canonical order, each with its
 * text.
 */
interface Plan {
  readonly keys: readonly string[]
  /** `first`: its text when no member is before it */
  readonly members: readonly { readonly key: string; readonly first: string; readonly next: string }[]
}

/** Events have few shapes, and sorting the keys takes most of the time. */
const plans: Plan[] = []
const mostPlans = 100

const isPlanOf = ({ keys }: Plan, given: readonly string[]) => {
  if (keys.length !== given.length) return false
  for (let i = 0; i < keys.length; i++) if (keys[i] !== given[i]) return false
  return true
}

const planOf = (keys: readonly string[]): Plan => {
  for (const plan of plans) if (isPlanOf(plan, keys)) return plan
  const members = keys.toSorted().map((key) => {
    const text = `${JSON.stringify(key)}:`
    return { key, first: text, next: `,${text}` }
  })
  const plan = { keys, members }
  if (plans.length < mostPlans) plans.push(plan)
  return plan
}

/** A value has no canonical form: JSON has no such value, or writing it would take more room than a stack has. */
export class NotCanonical extends TypeError {
  override readonly name = 'NotCanonical'
}

/** levels of objects and lists in a value */
const deepest = 100

/** Text that needs no escapes: from the space on, without quotes, backslashes and surrogates. */
const isPlain = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/

/** Texts to be joined: adding one text to another, again and again, takes half as long again. */
type Parts = string[]

const addText = (parts: Parts, value: string | number | boolean | null) => {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new NotCanonical('a number that is too large, and so no canonical form')
  if (typeof value !== 'string') parts.push(`${value}`)
  else if (isPlain.test(value)) parts.push('"', value, '"')
  else parts.push(JSON.stringify(value))
}

/** Returns the canonical form of a member where it is known already. */
export type KnownText = (key: string, value: unknown) => string | undefined

const addObject = (
  parts: Parts,
  object: Readonly<Record<string, unknown>>,
  depth: number,
  keys: readonly string[] = Object.keys(object),
  known?: KnownText,
) => {
  let isFirst = true
  parts.push('{')
  for (const { key, first, next } of planOf(keys).members) {
    const member = object[key]
    const text = known?.(key, member)
    if (member === undefined && text === undefined) continue
    parts.push(isFirst ? first : next)
    isFirst = false
    if (text === undefined) add(parts, member, depth + 1)
    else parts.push(text)
  }
  parts.push('}')
}

const add = (parts: Parts, value: unknown, depth: number) => {
  if (typeof value !== 'object' || value === null) return addText(parts, value as string | number | boolean | null)
  if (depth >= deepest) throw new NotCanonical(`more than ${deepest} levels, and so no canonical form`)
  if (!Array.isArray(value)) return addObject(parts, value as Readonly<Record<string, unknown>>, depth)
  parts.push('[')
  value.forEach((item, i) => {
    if (i > 0) parts.push(',')
    add(parts, item, depth + 1)
  })
  parts.push(']')
}

const joined = (write: (parts: Parts) => void) => {
  const parts: Parts = []
  write(parts)
  return parts.join('')
}

/**
 * Returns the canonical JSON of an object with these keys, some of whose members are not the object's: a copy of it
 * would take longer.
 */
export const canonicalWith = (
  object: Readonly<Record<string, unknown>>,
  keys: readonly string[],
  known: KnownText,
): string => joined((parts) => addObject(parts, object, 0, keys, known))

/**
 * Returns the canonical JSON of a JSON value (RFC 8785): without spaces, keys in the order of their UTF-16 code units,
 * numbers and strings as ECMAScript writes them. Members that are undefined are left out. Throws `NotCanonical`.
 */
export const canonical = (value: unknown): string => joined((parts) => add(parts, value, 0))
