import { type Format, ownFields, type OwnFields } from './records.ts'
import { isBlank, isNothing, type Named } from './values.ts'

/** What an account has of a link besides its fields, and statistics, of which only counts are imported. */
const besides = /^(?:status|unframed|top[A-Z]\w{0,40})$/

export const isOwnFormat = (format: Format): boolean => format === 'linkledger' || format === 'gempixel'

const browsersIn = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).map(([browser, link]) => ({ browser, link: link as unknown }))
    : value

/** The ids of variants are of the link that has them. */
const variantsIn = (value: unknown) =>
  Array.isArray(value)
    ? value.map((one: unknown) => {
        const { id: _, ...variant } = Object(one) as Readonly<Record<string, unknown>>
        return variant
      })
    : value

/** Returns the short URLs of a link that has several addresses. */
const shortUrlsIn = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : []).flatMap((one: unknown) => {
    const { shorturl } = Object(one) as { readonly shorturl?: unknown }
    return typeof shorturl === 'string' ? [shorturl] : []
  })

/** Returns what takes the fields of a link of such a service; of others it takes none. */
export const takingOwn = (format: Format) => {
  const fields: { -readonly [F in keyof OwnFields]: unknown } = {}
  const left: string[] = []
  let imported = 0
  let addresses: readonly string[] = []
  const isOwn = isOwnFormat(format)
  const texts = new Map<string, unknown>()
  /** Returns whether a value is taken. */
  const take = ({ name, value }: Named): boolean => {
    if (!isOwn) return false
    if (name === 'imported') imported = typeof value === 'number' ? value : 0
    else if (name === 'addresses') addresses = shortUrlsIn(value)
    else if (name === 'title' || name === 'description') {
      texts.set(name, value)
      return false
    } else if (name === 'browser') {
      if (!isBlank(value)) fields.browsertarget = browsersIn(value)
    } else if (name === 'variants') {
      if (!isBlank(value)) fields.variants = variantsIn(value)
    } else if (name === 'type' && !/^(?:direct|frame|splash)?$/.test(typeof value === 'string' ? value : '-')) {
      // a page of that account, by its id
      if (!isBlank(value)) left.push(name)
    } else if (ownFields.some((field) => field === name)) {
      const isUsual = name === 'type' && value === 'direct'
      if (!isNothing(value) && !isUsual) fields[name as keyof OwnFields] = value
    } else return besides.test(name)
    return true
  }
  return {
    take,
    left,
    found: () => ({ imported, addresses, fields: Object.keys(fields).length > 0 ? fields : undefined }),
    /** Whether a title or description only shows what its preview has. */
    isShown: (name: 'title' | 'description') =>
      texts.get(name) === fields[`meta${name}`] && fields[`meta${name}`] !== undefined,
  }
}
