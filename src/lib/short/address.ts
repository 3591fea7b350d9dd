import { exactAliasesAt, shownAlias } from './alias.ts'
import { hostNamed } from '../url.ts'

/** A public address as a person writes it: `https://go.example.com/sale`, `go.example.com/sale`, `/sale` or `sale`. */
export interface ShortAddress {
  /** in punycode and lower case, with port; undefined when it is left out */
  readonly host: string | undefined
  readonly kind: 'alias' | 'qr' | 'campaign' | 'list'
  /** in lower case; for the list of a campaign, its path below `/u/` */
  readonly name: string
  /** the keys of aliases that it may mean, the likely ones first: one, but on a domain with exact aliases */
  readonly keys: readonly string[]
}

const name = '([a-z\\d][\\w-]{0,63})'
const paths = [
  ['qr', new RegExp(`^/qr/${name}(?:/go|\\.png|\\.svg)?$`)],
  ['campaign', new RegExp(`^/r/${name}/?$`)],
  ['list', /^\/u\/([\w-]{3,32}\/[\w-]{1,64}-[1-9]\d{0,14})\/?$/],
  // an entry of a bio page belongs to the page, and a link may forward any path below its own
  ['alias', new RegExp(`^/${name}(?:/|$)`)],
] as const

/**
 * Reads a public address; ignores query and fragment. Returns undefined for another text. `isExact`: whether the host
 * of the address is a domain with exact aliases.
 */
export const readShortAddress = (
  text: string,
  isExact: (host: string | undefined) => boolean = () => false,
): ShortAddress | undefined => {
  const plain = text
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/[?#].*/s, '')
  const slash = plain.indexOf('/')
  const [given, path] = slash < 0 ? ['', `/${plain}`] : [plain.slice(0, slash).toLowerCase(), plain.slice(slash)]
  if (!/^[^\s@\\]*$/.test(given)) return undefined
  const [, named = given, port = ''] = /^(.*?)(:\d+)?$/.exec(given) ?? []
  const host = given === '' ? undefined : hostNamed(named) + port
  const [first, ...more] = isExact(host) ? exactAliasesAt(path).map(({ alias }) => alias) : []
  if (first !== undefined) return { host, kind: 'alias', name: shownAlias(first), keys: [first, ...more] }
  for (const [kind, pattern] of paths) {
    const found = pattern.exec(path.toLowerCase())?.[1]
    if (found !== undefined) return { host, kind, name: found, keys: [found] }
  }
  return undefined
}
