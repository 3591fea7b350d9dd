import type { LinkFields } from '../events/link.ts'
import { type Listed, offset, type Page } from './page.ts'
import type { Reader } from './reader.ts'

/** A link as its owner sees it. */
export interface LinkRow extends Omit<LinkFields, 'expiry'> {
  readonly id: number
  readonly password: boolean
  readonly expiry: Date | null
  readonly created: Date
}
/** As the driver gives it: bigint columns come as text. */
type Raw = Omit<LinkRow, 'id' | 'domain' | 'campaign'> & { id: string; domain: string | null; campaign: string | null }

const number = (text: string | null) => (text === null ? null : Number(text))
const typed = <R extends Raw>(row: R) => ({
  ...row,
  id: Number(row.id),
  domain: number(row.domain),
  campaign: number(row.campaign),
})

export interface LinkListRow extends LinkRow {
  readonly clicks: number
  readonly uniques: number
}
const fields =
  'id alias url type title description domain campaign expiry location device language parameters pixels metatitle metadescription metaimage created'
    .split(' ')
    .map((name) => `l.${name}`)

export const listLinks = async (
  { db, table }: Reader,
  account: number,
  order: 'date' | 'click',
  page: Page,
): Promise<Listed<LinkListRow>> => {
  const rows = db<Raw & { clicks: string; uniques: string }>({ l: table('links') })
    .leftJoin({ s: table('link_stats') }, 's.link', 'l.id')
    .where({ 'l.account': account, 'l.deleted': null })
    .select(
      ...fields,
      db.raw('l.password is not null as password, coalesce(s.clicks, 0) as clicks, coalesce(s.uniques, 0) as uniques'),
    )
    .limit(page.limit)
    .offset(offset(page))
  if (order === 'click') void rows.orderByRaw('coalesce(s.clicks, 0) desc, l.id desc')
  else void rows.orderBy('l.id', 'desc')
  const [counted] = await db<{ account: number; n: string }>(table('link_counts')).where({ account }).select('n')
  const found = (await rows) as (Raw & { clicks: string; uniques: string })[]
  return {
    total: Number(counted?.n ?? 0),
    rows: found.map((row) => ({ ...typed(row), clicks: Number(row.clicks), uniques: Number(row.uniques) })),
  }
}

export const findLink = async ({ db, table }: Reader, account: number, id: number): Promise<LinkRow | undefined> => {
  const rows = (await db({ l: table('links') })
    .where({ id, account, deleted: null })
    .select(...fields, db.raw('l.password is not null as password'))) as Raw[]
  return rows[0] && typed(rows[0])
}
