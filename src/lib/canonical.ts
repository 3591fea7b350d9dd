/** How objects with these keys, in this order, are written: the places of the keys in canonical order, each with its text. */
interface Plan {
  readonly keys: readonly string[]
  readonly members: readonly { readonly key: string; readonly prefix: string }[]
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
  const members = keys.toSorted().map((key) => ({ key, prefix: `${JSON.stringify(key)}:` }))
  const plan = { keys, members }
  if (plans.length < mostPlans) plans.push(plan)
  return plan
}

/** Text that needs no escapes: from the space on, without quotes, backslashes and surrogates. */
const isPlain = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/

const textOf = (value: string | number | boolean | null) => {
  if (typeof value === 'string') return isPlain.test(value) ? `"${value}"` : JSON.stringify(value)
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`JSON has no ${value}`)
  return `${value}`
}

/** Returns the canonical form of a member where it is known already. */
export type KnownText = (key: string, value: unknown) => string | undefined

const objectText = (object: Readonly<Record<string, unknown>>, known?: KnownText): string => {
  let text = ''
  for (const { key, prefix } of planOf(Object.keys(object)).members) {
    const member = object[key]
    if (member === undefined) continue
    text += `${text === '' ? '' : ','}${prefix}${known?.(key, member) ?? canonical(member)}`
  }
  return `{${text}}`
}

/** Returns the canonical JSON of an object, some of whose members have another value than they have in it. */
export const canonicalWith = (object: Readonly<Record<string, unknown>>, known: KnownText): string =>
  objectText(object, known)

/**
 * Returns the canonical JSON of a JSON value (RFC 8785): without spaces, keys in the order of their UTF-16 code units, numbers and strings as
 * ECMAScript writes them. Members that are undefined are left out.
 */
export const canonical = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return textOf(value as string | number | boolean | null)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  return objectText(value as Readonly<Record<string, unknown>>)
}
