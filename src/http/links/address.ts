import type { Domains } from '../../cache/domains.ts'
import { spelledOn } from '../../commands/links/alias.ts'
import { aliasPath } from '../../lib/short/alias.ts'
import type { LinkFields } from '../../events/links/link.ts'

/** What short addresses are made of. */
export interface LinkAddresses {
  /** Returns the address that short links start with, without a trailing slash. */
  readonly baseUrl: () => string
  readonly domains: Domains
}

/** Returns the address of a link's branded domain; undefined on the service's own host. */
export const siteOf = ({ domain }: Pick<LinkFields, 'domain'>, { domains }: Pick<LinkAddresses, 'domains'>) =>
  domain === null ? undefined : domains.byId(domain)?.domain

/** Returns what a link's short address begins with: its branded domain, or the service's own address. */
export const origin = (link: Pick<LinkFields, 'domain'>, addresses: LinkAddresses) =>
  siteOf(link, addresses) ?? addresses.baseUrl()

/** Whether links on a domain have exact aliases. */
export const isExactOn = (domain: number | null, { domains }: Pick<LinkAddresses, 'domains'>): boolean =>
  domain !== null && domains.byId(domain)?.exact === true

/** Returns an alias in the spelling of its domain. Throws `Refused`. */
export const aliasOn = (domain: number | null, alias: string, services: Pick<LinkAddresses, 'domains'>): string =>
  spelledOn(isExactOn(domain, services), alias)

/** Returns a link's short address. */
export const short = (row: Pick<LinkFields, 'alias' | 'domain'>, addresses: LinkAddresses) =>
  `${origin(row, addresses)}/${aliasPath(row.alias)}`
