import { z } from 'zod'
import type { Domains } from '../../cache/domains.ts'
import { aliasKey, exactAliasAt } from '../../lib/short/alias.ts'
import { safeTargetUrl } from '../../lib/url.ts'
import { says } from '../../lib/fields.ts'
import type { LinkFilter } from '../../queries/links/matching.ts'
import type { ListOrder } from '../../queries/page.ts'
import { filterId } from '../api/fields.ts'
import { ownedQuery, searched } from '../api/list/list.ts'
import { tagFilter } from './tag.ts'
import { isExactOn } from './address.ts'
import { urls } from './contract/link.ts'

/** What tells domains by their addresses. */
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
  short: searched,
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

/** Returns the filter for the link at a short address. */
export const shortFilter = (short: string, account: number, services: DomainNames): LinkFilter => {
  const [, host, path = ''] = /^(?:https?:\/\/)?(?:([^/]+)\/)?([^?#]*)/i.exec(short.trim()) ?? []
  const domain = host === undefined ? undefined : domainAt(host, account, services)
  const exact = domain && isExactOn(domain, services) ? exactAliasAt(`/${path}`) : undefined
  return { aliasKey: exact ?? aliasKey(path.split('/', 1)[0] ?? ''), domain }
}
