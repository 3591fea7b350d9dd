import type { LinkFields, Unframed } from '../events/link.ts'
import { addressKey, linkAddress, tagKey } from '../projections/link.ts'
import type { TableNames } from '../projections/projection.ts'
import { type Listed, offset, type Page } from './page.ts'
import { idOrNull, type Reader } from './reader.ts'

/** A link as its owner sees it. */
export interface LinkRow extends Omit<LinkFields, 'expiry' | 'starts' | 'last_variant'> {
  readonly id: number
  readonly password: boolean
  readonly expiry: Date | null
  readonly starts: Date | null
  readonly created: Date
  /** of its stream */
  readonly revision: number
  /** destinations that refuse to be framed; also former ones */
  readonly unframed: readonly Unframed[]
}
/** As the driver returns it: bigint columns are strings. */
type Raw = Omit<LinkRow, 'id' | 'domain' | 'campaign' | 'revision'> & {
  id: string
  domain: string | null
  campaign: string | null
  revision: string
}

const typed = <R extends Raw>(row: R) => ({
  ...row,
  id: Number(row.id),
  domain: idOrNull(row.domain),
  campaign: idOrNull(row.campaign),
  revision: Number(row.revision),
})

export interface LinkListRow extends LinkRow {
  readonly clicks: number
  readonly uniques: number
}
const fields =
  'id alias url entered type title description domain expiry location device language parameters pixels metatitle metadescription metaimage unframed tags archived starts expired_url max_clicks forward variants created revision'
    .split(' ')
    .map((name) => `l.${name}`)
/** When a campaign is deleted, its links keep its id; the API shows null. */
const calculated = (table: TableNames) =>
  `l.password is not null as password, (select n.notes from ${table('link_notes')} n where n.link = l.id) as notes,
   (select c.id from ${table('campaigns')} c where c.id = l.campaign and c.deleted is null) as campaign`

/** Selects some of an account's links; undefined fields do not filter. */
export interface LinkFilter {
  /** parts of the alias, title, metatitle or long URL, in any letter case, of which one is enough */
  readonly q?: readonly string[] | undefined
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
export type LinkOrder = 'date' | 'click'

const like = (text: string) => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`

/** The account's links that pass the filter and are not deleted, as `l`. */
const matching = ({ db, table }: Reader, account: number, filter: LinkFilter) => {
  const { q, domain, campaign, channel, tags, archived, aliasKey } = filter
  const links = db({ l: table('links') }).where({ 'l.account': account, 'l.deleted': null })
  if (archived !== undefined) void links.where({ 'l.archived': archived })
  if (tags) void links.whereRaw('l.tag_keys @> ?::text[]', [tags.map((tag) => tagKey(account, tag))])
  if (q)
    void links.whereRaw(`concat_ws(E'\\n', l.alias, l.title, l.metatitle, l.url, l.entered) ilike any(?)`, [
      q.map(like),
    ])
  if (domain !== undefined) void links.where({ 'l.domain': domain })
  if (aliasKey !== undefined && domain !== undefined)
    void links.whereRaw(`${linkAddress} = ?`, [addressKey(domain, aliasKey)])
  else if (aliasKey !== undefined) void links.where({ 'l.alias_key': aliasKey })
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

const counted = async ({ db, table }: Reader, account: number, archived: boolean | undefined) => {
  const [row] = await db<{ account: number; n: string; archived: string }>(table('link_counts')).where({ account })
  const [all, away] = [Number(row?.n ?? 0), Number(row?.archived ?? 0)]
  return archived === undefined ? all : archived ? away : all - away
}

const count = async (reader: Reader, account: number, filter: LinkFilter) => {
  const { archived, ...others } = filter
  // the projection maintains these numbers
  if (Object.values(others).every((value) => value === undefined)) return counted(reader, account, archived)
  const [row] = (await matching(reader, account, filter).count('* as n')) as { n: string }[]
  return Number(row?.n ?? 0)
}

type ListRaw = Raw & { clicks: string; uniques: string }

export const listLinks = async (
  reader: Reader,
  account: number,
  filter: LinkFilter,
  order: LinkOrder,
  page: Page,
): Promise<Listed<LinkListRow>> => {
  const [total, found] = await Promise.all([
    count(reader, account, filter),
    order === 'click' ? byClicks(reader, account, filter, page) : byDate(reader, account, filter, page),
  ])
  const rows = found.map((row) => ({ ...typed(row), clicks: Number(row.clicks), uniques: Number(row.uniques) }))
  return { total, rows }
}

const byDate = async (reader: Reader, account: number, filter: LinkFilter, page: Page) => {
  const { db, table } = reader
  const columns = `coalesce(s.clicks, 0) as clicks, coalesce(s.uniques, 0) as uniques, ${calculated(table)}`
  return (await matching(reader, account, filter)
    .leftJoin({ s: table('link_stats') }, 's.link', 'l.id')
    .select(...fields, db.raw(columns))
    .orderBy('l.id', 'desc')
    .limit(page.limit)
    .offset(offset(page))) as ListRaw[]
}

/**
 * Reads links with clicks by the index on clicks, then links without. The subqueries are written so that the planner cannot turn them into
 * joins over all links: the cost of a page does not grow with the number of links.
 */
const byClicks = async (reader: Reader, account: number, filter: LinkFilter, page: Page) => {
  const { db, table } = reader
  const links = () => matching(reader, account, filter).select(...fields, db.raw(calculated(table)))
  const clicked = () =>
    db({ s: table('link_stats') })
      .crossJoin(db.raw('lateral (?) as l', [links().whereRaw('l.id = s.link').limit(1)]))
      .where({ 's.account': account })
      .where('s.clicks', '>', 0)
  const first = (await clicked()
    .select('l.*', 's.clicks', 's.uniques')
    .orderByRaw('s.clicks desc, s.link desc')
    .limit(page.limit)
    .offset(offset(page))) as ListRaw[]
  const missing = page.limit - first.length
  if (missing === 0) return first
  const [counted] = first.length > 0 ? [] : ((await clicked().count('* as n')) as { n: string }[])
  const before = counted === undefined ? 0 : offset(page) - Number(counted.n)
  const rest = (await links()
    .whereRaw(`coalesce((select s.clicks from ${table('link_stats')} s where s.link = l.id), 0) = 0`)
    .select(db.raw('0 as clicks, 0 as uniques'))
    .orderBy('l.id', 'desc')
    .limit(missing)
    .offset(Math.max(0, before))) as ListRaw[]
  return [...first, ...rest]
}

/** Returns those of the pixels that are not deleted, in the same order. */
export const existingPixels = async ({ db, table }: Reader, ids: readonly number[]) => {
  if (ids.length === 0) return []
  const rows = (await db(table('pixels')).whereIn('id', ids).where({ deleted: null }).select('id')) as { id: string }[]
  const existing = new Set(rows.map(({ id }) => Number(id)))
  return ids.filter((id) => existing.has(id))
}

export const findLink = async ({ db, table }: Reader, account: number, id: number): Promise<LinkRow | undefined> => {
  const rows = (await db({ l: table('links') })
    .where({ id, account, deleted: null })
    .select(...fields, db.raw(calculated(table)))) as Raw[]
  return rows[0] && typed(rows[0])
}
