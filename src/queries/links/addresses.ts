import { addressKey, linkAddress } from '../../projections/links/link.ts'
import type { TableNames } from '../../projections/engine/projection.ts'
import type { Reader } from '../reader.ts'

/** SQL of every address of links that are not deleted: `link`, `address` (its number), `account`, `domain`, `alias`. */
export const everyAddress = (table: TableNames): string => `(
  select id as link, coalesce(main, 1) as address, account, domain, alias, alias_key from ${table('links')} where deleted is null
  union all select link, address, account, domain, alias, alias_key from ${table('link_addresses')} where deleted is null)`

/**
 * SQL of whether a link has an address on domains, or had one when it was deleted. 0 is the service's own host;
 * `domains` is in it twice.
 */
export const isOnDomains = (table: TableNames, link: string, domains: string): string =>
  `(coalesce(${link}.domain, 0) = ${domains}
    or exists (select from ${table('link_addresses')} o
      where o.link = ${link}.id and coalesce(o.domain, 0) = ${domains}))`

/**
 * SQL of the address by which visitors reach a link, as a row with `domain` and `alias`: the main one, or else the
 * first on a domain that is there and verified; no row when there is none.
 */
export const reachableAddress = (table: TableNames, link: string): string => `(
  select a.domain, a.alias
  from (select ${link}.domain, ${link}.alias, 0 as place
    union all select o.domain, o.alias, o.address from ${table('link_addresses')} o where o.link = ${link}.id) a
  left join ${table('domains')} d on d.id = a.domain
  where a.domain is null or (d.verified and d.deleted is null)
  order by a.place limit 1)`

/** An address of a link, beside its main one, as the tables have it. */
export interface OtherAddress {
  readonly address: number
  readonly domain: number | null
  readonly alias: string
  /** when it was added */
  readonly added: string
}

/** SQL of the addresses of a link beside its main one, as JSON; null when there is none. */
export const otherAddresses = (table: TableNames, link: string): string =>
  `(select json_agg(json_build_object('address', o.address, 'domain', o.domain, 'alias', o.alias, 'added', o.added) order by o.address)
    from ${table('link_addresses')} o where o.link = ${link})`

/** Returns the id of the link at an address; `domain` is null on the service's own host. */
export const linkIdAt = async (
  { db, table }: Reader,
  { domain, aliasKey }: { readonly domain: number | null; readonly aliasKey: string },
): Promise<number | undefined> => {
  const { rows } = await db.raw<{ rows: { link: string }[] }>(
    `select link from ${everyAddress(table)} a where ${linkAddress} = ? limit 1`,
    [addressKey(domain, aliasKey)],
  )
  return rows[0] && Number(rows[0].link)
}
