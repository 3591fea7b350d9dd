import type { CampaignFields } from '../../events/links/campaign.ts'
import type { TableNames } from '../../projections/engine/projection.ts'
import { reachableAddress } from './addresses.ts'
import { findOwned, listOwned, type OwnedRow } from '../owned.ts'
import { type ListRequest, offset, type Page } from '../page.ts'
import { idOrNull, type Reader } from '../reader.ts'

export type CampaignRow = OwnedRow & CampaignFields
export const listCampaigns = (reader: Reader, account: number, request: ListRequest) =>
  listOwned<CampaignRow>(reader, { kind: 'campaign' }, account, request)

export const findCampaign = (reader: Reader, account: number, id: number) =>
  findOwned<CampaignRow>(reader, 'campaigns', account, id)

/** A campaign that anyone may see: public, not deleted, of an active account. */
export interface PublicCampaign extends CampaignFields {
  readonly id: number
  readonly account: number
  readonly username: string
}
const publicCampaigns = ({ db, table }: Reader) =>
  db({ c: table('campaigns') })
    .join({ a: table('accounts') }, 'a.id', 'c.account')
    .where({ 'c.public': true, 'c.deleted': null, 'a.status': 'active' })

/** Returns what is public of these campaigns, in their order. */
export const findPublicCampaigns = async (
  reader: Reader,
  ids: readonly number[],
): Promise<readonly (PublicCampaign | undefined)[]> => {
  const rows = (await publicCampaigns(reader)
    .whereRaw('c.id = any(?)', [[...ids]])
    .select('c.id', 'c.account', 'c.name', 'c.slug', 'c.public', 'a.username')) as (PublicCampaign & { id: string })[]
  const found = new Map(rows.map((row) => [Number(row.id), row]))
  return ids.map((id) => {
    const row = found.get(id)
    return row && { ...row, id, account: Number(row.account) }
  })
}

/** Returns the public campaigns that have these slugs, in lower case. */
export const rotatorCampaigns = async (
  reader: Reader,
  slugs: readonly string[],
): Promise<readonly (Pick<PublicCampaign, 'id' | 'account'> | undefined)[]> => {
  const rows = (await publicCampaigns(reader)
    .whereRaw('lower(c.slug) = any(?)', [[...slugs]])
    .select('c.slug', 'c.id', 'c.account')) as { slug: string; id: string; account: string }[]
  const found = new Map(
    rows.map(({ slug, id, account }) => [slug.toLowerCase(), { id: Number(id), account: Number(account) }]),
  )
  return slugs.map((slug) => found.get(slug))
}

/** Links that may redirect at the moment, by what they have themselves. */
const isOpen =
  'l.deleted is null and (l.expiry is null or l.expiry > now()) and (l.starts is null or l.starts <= now())'
/** Those that redirect, of these: by an address that can be reached. */
const isServed = (table: TableNames) =>
  `(l.max_clicks is null or l.max_clicks > coalesce((select s.clicks - s.imported from ${table('link_stats')} s where s.link = l.id), 0))`

/** A link that a rotator may choose. */
export interface RotatorLink {
  readonly campaign: number
  readonly link: number
  /** id of its branded domain; null = the service's own host */
  readonly domain: number | null
  readonly alias: string
  readonly expiry: Date | null
}
/**
 * Returns up to `limit` links of the public campaign with this slug (in lower case), in random order; each of its links
 * is equally likely to be among them.
 */
export const rotatorLinks = async (reader: Reader, slug: string, limit: number): Promise<readonly RotatorLink[]> => {
  const some = await linksAmong(reader, slug, limit, limit * 4)
  // a large campaign may have few links that redirect, and none among these
  return some.length > 0 ? some : linksAmong(reader, slug, limit, 1_000_000_000)
}

/** Returns those of some links that a rotator may still choose. */
export const stillRotating = async (reader: Reader, slug: string, links: readonly RotatorLink[]) =>
  links.length === 0
    ? []
    : linksAmong(
        reader,
        slug,
        links.length,
        links.length,
        links.map(({ link }) => link),
      )

/**
 * Looks at so many links of the campaign, or of these in it, in random order: what it takes to see whether each
 * redirects is not free.
 */
const linksAmong = async (reader: Reader, slug: string, limit: number, looked: number, these?: readonly number[]) => {
  const { db, table } = reader
  const among = publicCampaigns(reader)
    .join({ l: table('links') }, { 'l.campaign': 'c.id', 'l.account': 'c.account' })
    .whereRaw(`lower(c.slug) = ? and ${isOpen}`, [slug])
    .select('l.campaign', 'l.id', 'l.domain', 'l.alias', 'l.expiry', 'l.max_clicks')
    .orderByRaw('random()')
    .limit(looked)
  if (these) among.whereRaw('l.id = any(?)', [[...these]])
  const rows = (await db(among.as('l'))
    .joinRaw(`cross join lateral ${reachableAddress(table, 'l')} as a`)
    .whereRaw(isServed(table))
    .select('l.campaign', 'l.id as link', 'a.domain', 'a.alias', 'l.expiry')
    .orderByRaw('random()')
    .limit(limit)) as (RotatorLink & { campaign: string; link: string; domain: string | null })[]
  return rows.map((row) => ({
    ...row,
    campaign: Number(row.campaign),
    link: Number(row.link),
    domain: idOrNull(row.domain),
  }))
}

/** A link as a list page shows it. */
export interface PageLink {
  readonly link: number
  readonly alias: string
  readonly domain: number | null
  readonly title: string
  readonly url: string
  readonly password: boolean
  readonly max_clicks: number | null
}
/**
 * Returns the links of a campaign that redirect, or of these in it, newest first, with one more than fits the page if
 * there is a next page.
 */
export const campaignLinks = async (
  { db, table }: Reader,
  { id, account }: Pick<PublicCampaign, 'id' | 'account'>,
  page: Page,
  these?: readonly number[],
): Promise<readonly PageLink[]> => {
  const rows = (await db({ l: table('links') })
    .joinRaw(`cross join lateral ${reachableAddress(table, 'l')} as a`)
    .where({ 'l.campaign': id, 'l.account': account })
    .whereRaw(`${isOpen} and ${isServed(table)} and ${these ? 'l.id = any(?)' : 'true'}`, these ? [[...these]] : [])
    .select(
      'l.id as link',
      'a.alias',
      'a.domain',
      'l.url',
      'l.max_clicks',
      db.raw(`coalesce(nullif(l.title, ''), l.metatitle) as title, l.password is not null as password`),
    )
    .orderBy('l.id', 'desc')
    .limit(page.limit + 1)
    .offset(offset(page))) as (PageLink & { domain: string | null })[]
  return rows.map((row) => ({ ...row, link: Number(row.link), domain: idOrNull(row.domain) }))
}
