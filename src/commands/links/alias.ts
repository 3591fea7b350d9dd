import { randomBytes } from 'node:crypto'
import { aliasKey, exactAlias, isExact, shownAlias } from '../../lib/short/alias.ts'
import type { LinkFields } from '../../events/links/link.ts'
import { problem, type Problem } from '../../lib/problems/problem.ts'
import { isRefused, refuse } from '../decider.ts'

/** Aliases of links, bio pages and QR codes, and slugs; ASCII only, so that no two look alike. */
export const aliasPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

/**
 * Returns the name under which an alias is claimed: aliases are unique per domain; domain 0 is the service's own host.
 */
export const aliasClaimName = ({ domain, alias }: Pick<LinkFields, 'domain' | 'alias'>): string =>
  `${domain ?? 0}${isExact(alias) ? '=' : '-'}${shownAlias(aliasKey(alias))}`

// our own first path segments, present and future, and words that programs write for a missing value
export const reservedWords: ReadonlySet<string> = new Set(
  [
    'api register qr r u c p o static assets metrics health healthz ready readyz live livez internal log',
    'docs openapi asyncapi app dashboard admin login logout keys webhooks www',
    'oidc scim account report reports blocked privacy imprint terms abuse security support',
    'robots favicon sitemap index well-known true false null undefined',
  ].flatMap((words) => words.split(' ')),
)

/** What the service itself serves on a domain with exact aliases: what browsers, programs and the law ask it for. */
const ownPath = /^\/(?:(?:\.well-known|report|favicon\.ico)(?:\/|$)|o\/)/
/** Whether a path on a domain with exact aliases is the service's own. */
export const isOwnPath = (path: string): boolean => ownPath.test(path)

export const isReserved = (alias: string): boolean =>
  isExact(alias) ? isOwnPath(alias) : reservedWords.has(aliasKey(alias))

/**
 * Returns an alias as links on a domain have it. `exact`: whether that has exact aliases. Throws `Refused` for one that
 * the domain cannot have.
 */
export const spelledOn = (exact: boolean, alias: string): string => {
  const text = shownAlias(alias)
  if (exact) return exactAlias(text) ?? refuse('wrong_form', { what: 'exact_alias', field: 'custom' })
  return aliasPattern.test(text) ? text : refuse('wrong_form', { what: 'alias', field: 'custom' })
}

/** Returns what is wrong with an alias that a user chose for something new, or undefined. */
export const aliasProblem = (alias: string): Problem | undefined =>
  aliasPattern.test(alias)
    ? isReserved(alias)
      ? problem('reserved')
      : undefined
    : problem('wrong_form', { what: 'alias' })

/**
 * Throws `Refused` for a reserved word, unless it is the alias so far: newer releases reserve words that are in use
 * already.
 */
export const refuseReserved = (field: string, alias: string, before = ''): void => {
  if (isReserved(alias) && aliasKey(alias) !== aliasKey(before)) refuse('reserved', { field })
}

// 32 symbols; 0, 1, l and o are left out because they are easily confused when read aloud or copied from paper
const symbols = 'abcdefghijkmnpqrstuvwxyz23456789'

/** Returns a random alias of eight symbols (40 bits). */
export const randomAlias = (): string => {
  const alias = [...randomBytes(8)].map((byte) => symbols.charAt(byte & 31)).join('')
  return isReserved(alias) ? randomAlias() : alias
}

/** Calls `make` with a random alias, and again with another one if the alias is taken (rare: 40 random bits). */
export const withRandomAlias = async <R>(make: (alias: string) => Promise<R>, tries = 10): Promise<R> => {
  try {
    return await make(randomAlias())
  } catch (error) {
    if (isRefused(error, 'taken') && tries > 1) return withRandomAlias(make, tries - 1)
    throw error
  }
}
