import { addressKey, linkAddress, tagKey } from '../../projections/links/link.ts'
import type { Reader } from '../reader.ts'
import { everyAddress, isOnDomains } from './addresses.ts'

/** Selects some of an account's links; undefined fields do not filter. */
export interface LinkFilter {
  /** null: the service's own host */
  readonly domain?: number | null | undefined
  readonly campaign?: number | undefined
  readonly channel?: number | undefined
  /** tags, all of which the link has */
  readonly tags?: readonly string[] | undefined
  readonly archived?: boolean | undefined
  /** the whole alias, in lower case */
  readonly aliasKey?: string | undefined
}

/** The account's links that pass the filter and are not deleted, as `l`. */
export const matching = ({ db, table }: Reader, account: number, filter: LinkFilter) => {
  const { domain, campaign, channel, tags, archived, aliasKey } = filter
  const links = db({ l: table('links') }).where({ 'l.account': account, 'l.deleted': null })
  if (archived !== undefined) void links.where({ 'l.archived': archived })
  if (tags) void links.whereRaw('l.tag_keys @> ?::text[]', [tags.map((tag) => tagKey(account, tag))])
  if (domain !== undefined && aliasKey === undefined)
    void links.whereRaw(isOnDomains(table, 'l', '?::bigint'), [domain ?? 0, domain ?? 0])
  if (aliasKey !== undefined) {
    const [at, value] = domain === undefined ? ['alias_key', aliasKey] : [linkAddress, addressKey(domain, aliasKey)]
    void links.whereRaw(
      `l.id = any(array(select link from ${everyAddress(table)} a where ${at} = ? and account = ?))`,
      [value, account],
    )
  }
  if (campaign !== undefined)
    void links
      .where({ 'l.campaign': campaign })
      .whereExists(db({ c: table('campaigns') }).where({ 'c.id': campaign, 'c.account': account, 'c.deleted': null }))
  // an array of ids instead of a join: without planner statistics, PostgreSQL would scan all items for each link
  if (channel !== undefined)
    void links.whereRaw(
      `l.id = any(array(
         select i.item from ${table('channel_items')} i join ${table('channels')} c on c.id = i.channel
         where i.channel = ? and i.kind = 'links' and c.account = ? and c.deleted is null))`,
      [channel, account],
    )
  return links
}
