import type { ChannelFields, ItemKind, ItemRef } from '../events/channel.ts'
import { listOwned, type OwnedRow } from './owned.ts'
import { type Listed, offset, type Page } from './page.ts'
import { idOrNull, type Reader } from './reader.ts'

export type ChannelRow = OwnedRow & ChannelFields
export const listChannels = (reader: Reader, account: number, page: Page) =>
  listOwned<ChannelRow>(reader, 'channels', account, page)

/** Returns the ids of the channels that an item is in, oldest channel first. */
export const channelsOfItem = async ({ db, table }: Reader, account: number, { kind, id }: ItemRef) => {
  const rows = (await db({ i: table('channel_items') })
    .join({ c: table('channels') }, 'c.id', 'i.channel')
    .where({ 'i.kind': kind, 'i.item': id, 'c.account': account, 'c.deleted': null })
    .orderBy('c.id')
    .select('c.id')) as { id: string }[]
  return rows.map((row) => Number(row.id))
}

/** A link, bio page or QR code in a channel. */
export interface ItemRow {
  readonly kind: ItemKind
  readonly id: number
  readonly assigned: Date
  readonly title: string
  readonly alias: string
  /** URL of its picture; `` = none */
  readonly image: string
  /** destination of a link; null for bio pages and QR codes */
  readonly url: string | null
  /** id of a link's branded domain; null = the service's own host */
  readonly domain: number | null
}

/** The table of each kind of item, as `x`, and the columns of `ItemRow` in terms of it. */
const kinds: Record<ItemKind, { readonly table: string; readonly columns: string }> = {
  links: {
    table: 'links',
    columns: `coalesce(nullif(x.title, ''), nullif(x.metatitle, ''), x.alias) as title, x.alias, x.metaimage as image, x.url, x.domain`,
  },
  bio: {
    table: 'bios',
    columns: `coalesce(nullif(x.title, ''), x.name) as title, x.alias, x.avatar as image, null as url, null as domain`,
  },
  qr: {
    table: 'qrs',
    columns: `coalesce(nullif(x.name, ''), x.alias) as title, x.alias, '' as image, null as url, null as domain`,
  },
}

/**
 * Returns one page of the items in a channel that are not deleted, newest assignment first. Both statements look items up by id: while the
 * tables have no statistics, PostgreSQL plans plain joins as all items for each link (10 s for 10,000).
 */
export const listItems = async (
  { db, table }: Reader,
  { id, account }: { readonly id: number; readonly account: number },
  page: Page,
): Promise<Listed<ItemRow>> => {
  const items = table('channel_items')
  const perKind = (select: (kind: string, from: string, columns: string) => string) =>
    Object.entries(kinds).map(([kind, { table: name, columns }]) => select(kind, table(name), columns))
  const details = perKind(
    (kind, from, columns) =>
      `select ${columns} from ${from} x where i.kind = '${kind}' and x.id = i.item and x.account = :account and x.deleted is null`,
  )
  const counts = perKind(
    (kind, from) =>
      `(select count(*) from ${from} x where x.account = :account and x.deleted is null
          and x.id = any(array(select item from ${items} where channel = :id and kind = '${kind}')))`,
  )
  const [{ rows }, counted] = await Promise.all([
    db.raw<{ rows: (ItemRow & { domain: string | null })[] }>(
      `select i.kind, i.item as id, i.assigned, details.* from ${items} i cross join lateral (${details.join(' union all ')}) details
       where i.channel = :id order by i.position desc limit :limit offset :offset`,
      { id, account, limit: page.limit, offset: offset(page) },
    ),
    db.raw<{ rows: { n: string }[] }>(`select ${counts.join(' + ')} as n`, { id, account }),
  ])
  return {
    total: Number(counted.rows[0]?.n ?? 0),
    rows: rows.map((row) => ({ ...row, id: Number(row.id), domain: idOrNull(row.domain) })),
  }
}
