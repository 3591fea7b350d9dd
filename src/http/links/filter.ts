import { z } from 'zod'
import type { Domains } from '../../cache/domains.ts'
import { aliasKey, exactAliasesAt } from '../../lib/short/alias.ts'
import { safeTargetUrl } from '../../lib/url.ts'
import { says, verbatim } from '../../lib/fields.ts'
import type { LinkFilter } from '../../queries/links/matching.ts'
import type { ListOrder } from '../../queries/page.ts'
import { filterId } from '../api/fields.ts'
import { ownedQuery } from '../api/list/list.ts'
import { tagFilter } from './tag.ts'
import { isExactOn } from './address.ts'
import { urls } from './contract/link.ts'

/** Finds domains by their addresses. */
export interface DomainNames {
  readonly domains: Domains
  /** Whether a host, in any spelling, is the service's own. */
  readonly isMainHost: (host: string) => boolean
}

/** Not 0, which is the service's own host in the tables. */
const noDomain = -1
/**
 * Returns the id of a domain by its address: null for the service's own, and `noDomain`, which no domain has, for an
 * unknown one.
 */
const domainAt = (address: string, account: number, { domains, isMainHost }: DomainNames) => {
  const host =
    address
      .trim()
      .replace(/^https?:\/\//i, '')
      .split('/')[0] ?? ''
  return domains.own(account, host)?.id ?? (isMainHost(host) ? null : noDomain)
}

/**
 * Returns the same for a filter: as in a link's body, an empty address is the service's own host. Without one, it is
 * undefined.
 */
export const domainFilter = (address: string | undefined, account: number, services: DomainNames) =>
  address === undefined ? undefined : address.trim() === '' ? null : domainAt(address, account, services)

const text = z.string().optional()
const orders = ['date', 'oldest', 'click'] as const
/** The query of `GET /api/urls`. */
export const ListQuery = ownedQuery(urls).extend({
  /** any other value means `date` */
  order: text
    .transform((given): ListOrder => orders.find((name) => name === given) ?? 'date')
    .meta({ enum: [...orders] }),
  /** a short address, with or without scheme, or an alias alone: finds one link */
  short: verbatim(2048).optional(),
  domain: text,
  campaign: filterId,
  channel: filterId,
  tag: tagFilter,
  archived: z
    .enum(['false', 'true', 'all'], says('not_one_of', { values: 'false, true, all' }))
    .default('false')
    .transform((which) => (which === 'all' ? undefined : which === 'true')),
})
type ListQuery = z.output<typeof ListQuery>

/** An address is found as the client sent it and as browsers write it, whichever of them it searches for. */
export const spellingVariants = (q: string) => {
  const safe = safeTargetUrl(q)
  // every address that contains the longer one contains `q`, and each spelling takes as long as the search itself
  return safe.ok && !safe.url.toLowerCase().includes(q.toLowerCase()) ? [q, safe.url] : [q]
}

/** Returns the filter of a query, in terms of the tables. */
export const filterOf = (
  { domain, campaign, channel, tag, archived }: ListQuery,
  account: number,
  services: DomainNames,
): LinkFilter => ({
  domain: domainFilter(domain, account, services),
  campaign,
  channel,
  tags: tag,
  archived,
})

/** Returns filters of which the first one that finds a link finds that at a short address. */
export const shortFilters = (short: string, account: number, services: DomainNames): readonly LinkFilter[] => {
  const [, scheme, text = ''] = /^(https?:\/\/)?([^?#]*)/i.exec(short.trim()) ?? []
  const [, host, path = text] = /^([^/]+)\/(.*)$/s.exec(text) ?? []
  const domain = host === undefined ? undefined : domainAt(host, account, services)
  const plainAt = (at: string) => aliasKey(at.replace(/^\//, '').split('/', 1)[0] ?? '')
  const exactAt = (at: string, on: number | undefined) =>
    exactAliasesAt(`/${at}`).map(({ alias }) => ({ aliasKey: alias, domain: on }))
  // an alias alone, which may have slashes
  if (domain === undefined || (domain === noDomain && !scheme))
    return [{ aliasKey: plainAt(path), domain }, ...exactAt(text.replace(/^\//, ''), undefined)]
  return domain && isExactOn(domain, services) ? exactAt(path, domain) : [{ aliasKey: plainAt(path), domain }]
}
