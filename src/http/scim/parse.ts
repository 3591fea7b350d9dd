import { cut, readJson, textLimits } from '../../lib/strangers.ts'
import { refuse } from './resource.ts'

const quoted = String.raw`"(?:[^"\\]|\\.)*"`
const term = new RegExp(
  String.raw`\s*([\w:.$-]+(?:\[type eq "work"\](?:\.value)?)?)\s+eq\s+(${quoted}|[\w.-]+)\s*(and\s)?`,
  'iy',
)
const path = new RegExp(String.raw`^([\w$]+)(?:\[(\w+) eq (${quoted}|[\w.-]+)\])?(?:\.(\w+))?$`, 'i')
const core = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group)[.:]/i
/** the name of a whole resource */
const whole = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):?$/i

const valueOf = (text: string): unknown => {
  const read = readJson(text, { levels: 0, values: 1 })
  return 'value' in read ? read.value : text
}

/** Returns a value of a filter. Rejects characters that no attribute has. */
const comparedOf = (text: string): string => {
  const value = String(valueOf(text))
  return /[\p{Cc}\p{Cs}]/u.test(value) ? refuse(400, 'A filter has no control characters.', 'invalidFilter') : value
}

/** A comparison of an attribute, in lower case, with a text. */
export type Comparison = readonly [attribute: string, value: string]

/** Returns the comparisons of a filter that must all be true: `userName eq "ann" and externalId eq "7"`. */
export const parseFilter = (filter: string): readonly Comparison[] => {
  const text = cut('filter', filter).trim()
  if (text === '') return []
  const wrong = (): never => refuse(400, 'A filter has comparisons with eq, joined by and.', 'invalidFilter')
  if (text.length > textLimits.filter) wrong()
  const found: Comparison[] = []
  let goesOn = true
  for (term.lastIndex = 0; term.lastIndex < text.length;) {
    const match: readonly (string | undefined)[] = (goesOn && term.exec(text)) || wrong()
    const [, attribute = '', value = '', and] = match
    found.push([attribute.replace(core, '').toLowerCase(), comparedOf(value)])
    goesOn = and !== undefined
  }
  return goesOn ? wrong() : found
}

/** The target of an operation: `emails[type eq "work"].value`. Names of attributes are in lower case. */
export interface Path {
  readonly attribute: string
  readonly where?: Comparison | undefined
  readonly part?: string | undefined
}

/** Returns the target of a path; undefined for an invalid one. An attribute of an extension is named ``. */
export const parsePath = (given: string): Path | undefined => {
  const text = cut('filter', given)
  if (text.length > textLimits.filter) return undefined
  const own = text.trim().replace(core, '')
  if (/^urn:/i.test(own)) return { attribute: '' }
  const [, attribute, name, value, part] = path.exec(own) ?? []
  if (attribute === undefined) return undefined
  const where =
    name === undefined || value === undefined ? undefined : ([name.toLowerCase(), comparedOf(value)] as const)
  return { attribute: attribute.toLowerCase(), where, part: part?.toLowerCase() }
}

/** A change of an attribute. `value` undefined or null: removes it, or all of it. */
export interface Operation extends Path {
  readonly op: 'add' | 'replace' | 'remove'
  readonly value: unknown
}

export type Fields = Readonly<Record<string, unknown>>
export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the same with names in lower case: names in SCIM have no letter case. */
export const lowered = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]))

const wrong = (detail: string): never => refuse(400, detail, 'invalidSyntax')
const isWhole = (name: string) => name.length <= 60 && whole.test(name)

/** maximum operations of a request, and attributes in them */
const most = 1000
const requireFew = (many: number) => {
  if (many > most) refuse(413, `A request has at most ${most} operations and attributes.`)
}

/** Returns attributes, including those below the schema of the resource, as extensions have them. */
const attributesOf = (fields: Fields): readonly (readonly [name: string, value: unknown])[] =>
  Object.entries(fields).flatMap((one) => {
    const [name, value] = one
    if (!isWhole(name)) return [one]
    return isObject(value) ? Object.entries(value) : wrong(`${name} must be an object.`)
  })

/** Returns the changes for a resource that a directory sends. Ignores unknown attributes. */
export const operationsOf = (fields: Fields, op: 'add' | 'replace' = 'replace'): readonly Operation[] => {
  const all = attributesOf(fields)
  requireFew(all.length)
  return all.flatMap(([name, value]) => {
    if (isWhole(name)) return wrong(`${name} must not be below itself.`)
    const found = parsePath(name)
    return found ? [{ ...found, op, value }] : []
  })
}

const parseOperation = (given: unknown): readonly Operation[] => {
  const { op: sent, path: at, value } = isObject(given) ? lowered(given) : wrong('An operation must be an object.')
  // Entra writes them with a capital letter
  const op = ['add', 'replace', 'remove'].find(
    (one) => typeof sent === 'string' && one === cut('filter', sent).toLowerCase(),
  )
  if (op === undefined) return wrong('op must be add, replace or remove.')
  if (at === undefined || at === null || at === '' || (typeof at === 'string' && isWhole(at))) {
    if (!isObject(value) || op === 'remove')
      return wrong('An operation without a path must have an object as its value.')
    return operationsOf(value, op as 'add' | 'replace')
  }
  const found = typeof at === 'string' ? parsePath(at) : undefined
  if (!found)
    return refuse(400, 'path must be an attribute, such as active or emails[type eq "work"].value.', 'invalidPath')
  return [{ ...found, op: op as Operation['op'], value }]
}

/** Returns the number of attributes in an operation. */
const attributesIn = (given: unknown): number => {
  if (!isObject(given)) return 1
  const value = Object.entries(given).find(([name]) => name.toLowerCase() === 'value')?.[1]
  return isObject(value) ? attributesOf(value).length : 1
}

/** Returns the changes of a PATCH. */
export const parsePatch = (body: Fields): readonly Operation[] => {
  const { operations } = lowered(body)
  if (!Array.isArray(operations)) return refuse(400, 'Operations must be a list.', 'invalidSyntax')
  requireFew(operations.length)
  requireFew(operations.reduce<number>((sum, one) => sum + attributesIn(one), 0))
  return operations.flatMap(parseOperation)
}

/** Returns a text, undefined for an empty one. */
export const readText = (name: string, value: unknown): string | undefined => {
  if (value === undefined || value === null || value === '') return undefined
  const isRight = typeof value === 'string' && value.length <= textLimits.attribute && /^[^\p{Cc}\p{Cs}]+$/u.test(value)
  return isRight
    ? value
    : refuse(400, `${name} must be a text of at most ${textLimits.attribute} characters.`, 'invalidValue')
}
