import type { ChannelFields, ItemKind } from '../events/channel.ts'
import { listOwned, type OwnedRow } from './owned.ts'
import { type Listed, offset, type Page } from './page.ts'
import { idOrNull, type Reader } from './reader.ts'

export type ChannelRow = OwnedRow & ChannelFields
export const listChannels = (reader: Reader, account: number, page: Page) =>
  listOwned<ChannelRow>(reader, 'channels', account, page)

/** A link, bio page or QR code in a channel. */
export interface ItemRow {
  readonly kind: ItemKind
  readonly id: number
  readonly assigned: Date
  readonly title: string
  readonly alias: string
  /** address of its picture, `` = none */
  readonly image: string
  /** where a link leads, null for what is a page of ours */
  readonly url: string | null
  /** id of a link's branded domain, null = the service's own */
  readonly domain: number | null
}

/** Of each kind of item its table, `x`, and what it shows: the same columns for all of them. */
const kinds: Record<ItemKind, { readonly table: string; readonly shows: string }> = {
  links: {
    table: 'links',
    shows: `coalesce(nullif(x.title, ''), nullif(x.metatitle, ''), x.alias) as title, x.alias, x.metaimage as image, x.url, x.domain`,
  },
  bio: {
    table: 'bios',
    shows: `coalesce(nullif(x.title, ''), x.name) as title, x.alias, x.avatar as image, null as url, null as domain`,
  },
  qr: {
    table: 'qrs',
    shows: `coalesce(nullif(x.name, ''), x.alias) as title, x.alias, '' as image, null as url, null as domain`,
  },
}

/**
 * What is in a channel and lives, newest assignment first. Both statements look items up by their ids, one after the other:
 * as plain joins they were planned as all items for each link while the tables had no statistics (10 s for 10,000).
 */
export const listItems = async (
  { db, table }: Reader,
  { id, account }: { readonly id: number; readonly account: number },
  page: Page,
): Promise<Listed<ItemRow>> => {
  const items = table('channel_items')
  const of = (select: (kind: string, from: string, shows: string) => string) =>
    Object.entries(kinds).map(([kind, { table: name, shows }]) => select(kind, table(name), shows))
  const shown = of(
    (kind, from, shows) =>
      `select ${shows} from ${from} x where i.kind = '${kind}' and x.id = i.item and x.account = :account and x.deleted is null`,
  )
  const living = of(
    (kind, from) =>
      `(select count(*) from ${from} x where x.account = :account and x.deleted is null
          and x.id = any(array(select item from ${items} where channel = :id and kind = '${kind}')))`,
  )
  const [{ rows }, counted] = await Promise.all([
    db.raw<{ rows: (ItemRow & { domain: string | null })[] }>(
      `select i.kind, i.item as id, i.assigned, shown.* from ${items} i cross join lateral (${shown.join(' union all ')}) shown
       where i.channel = :id order by i.position desc limit :limit offset :offset`,
      { id, account, limit: page.limit, offset: offset(page) },
    ),
    db.raw<{ rows: { n: string }[] }>(`select ${living.join(' + ')} as n`, { id, account }),
  ])
  return {
    total: Number(counted.rows[0]?.n ?? 0),
    rows: rows.map((row) => ({ ...row, id: Number(row.id), domain: idOrNull(row.domain) })),
  }
}
