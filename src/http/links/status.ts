import type { Blocks } from '../../cache/blocks.ts'
import type { LinkListRow } from '../../queries/links/link.ts'
import { type LinkAddresses, siteOf } from './address.ts'
import type { LinkRow as ListedLink } from './contract/link.ts'

/** Returns the current state of a link for visitors; an archived link still redirects. */
export const statusOf = (
  row: Omit<LinkListRow, 'clicks' | 'uniques' | 'imported'>,
  services: Pick<LinkAddresses, 'domains'> & { readonly blocks: Blocks },
  now: Date,
): ListedLink['status'] => {
  const { id, url, alias, reachable, starts, expiry, max_clicks: most, own, password } = row
  const { blocks } = services
  const site = siteOf(row, services)
  if (site !== undefined && blocks.domain(new URL(site).host)) return 'blocked'
  if (blocks.link(id) || blocks.address(site, alias) || blocks.destination(url)) return 'blocked'
  if (!reachable) return 'unreachable'
  if ((expiry !== null && expiry <= now) || (most !== null && own >= most)) return 'expired'
  if (starts !== null && starts > now) return 'scheduled'
  return password ? 'protected' : 'active'
}
