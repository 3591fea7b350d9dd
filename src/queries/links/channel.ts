import type { ChannelFields, ItemKind, ItemRef } from '../../events/links/channel.ts'
import { inPart, type Part } from '../accounts/part.ts'
import { findOwned, listOwned, type OwnedRow } from '../owned.ts'
import { filtered, inOrder, isFiltered, type Listed, type ListRequest, readPositions } from '../page.ts'
import { idOrNull, planned, type Reader } from '../reader.ts'

export type ChannelRow = OwnedRow & ChannelFields
export const listChannels = (reader: Reader, account: number, request: ListRequest) =>
  listOwned<ChannelRow>(reader, { kind: 'channel' }, account, request)

export const findChannel = (reader: Reader, account: number, id: number) =>
  findOwned<ChannelRow>(reader, 'channels', account, id)

/** Returns the channels that an item was put into, also deleted ones, oldest channel first. */
export const channelsOfItem = async (reader: Reader, account: number, { kind, id }: ItemRef) => {
  const { db, table } = reader
  const sql = `
    select c.id, c.deleted is null as exists from ${table('channels')} c
    where c.id = any(array(select channel from ${table('channel_items')} where kind = ? and item = ?))
      and c.account = ? order by c.id`
  const { rows } = await db
    .raw<{ rows: { id: string; exists: boolean }[] }>(sql, [kind, id, account])
    .options(planned(reader, sql))
  return rows.map((row) => ({ ...row, id: Number(row.id) }))
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
    columns: `coalesce(nullif(x.title, ''), nullif(x.metatitle, ''), ltrim(x.alias, '/')) as title, x.alias, x.metaimage as image, x.url, x.domain`,
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

const perKind = ({ table }: Reader, select: (kind: string, from: string, columns: string) => string) =>
  Object.entries(kinds).map(([kind, { table: name, columns }]) => select(kind, table(name), columns))

/**
 * Each part looks items up by id: while the tables have no statistics, PostgreSQL plans plain joins as all items for
 * each link (10 s for 10,000).
 */
const countItems = (reader: Reader, channel: number, account: number) => {
  const items = reader.table('channel_items')
  const counts = perKind(
    reader,
    (kind, from) =>
      `(select count(*) from ${from} x where x.account = :account and x.deleted is null
          and x.id = any(array(select item from ${items} where channel = :channel and kind = '${kind}')))`,
  )
  return reader.db.raw(`select ${counts.join(' + ')} as n`, { channel, account })
}

/** Returns one page of the items in a channel that are not deleted, in the order of their assignments. */
export const listItems = async (
  reader: Reader,
  { id: channel, account }: { readonly id: number; readonly account: number },
  request: ListRequest,
): Promise<Listed<ItemRow>> => {
  const { db, table } = reader
  const details = perKind(
    reader,
    (kind, from, columns) =>
      `select ${columns} from ${from} x where i.kind = '${kind}' and x.id = i.item and x.account = :account and x.deleted is null`,
  ).join(' union all ')
  const items = () =>
    db({ i: table('channel_items') })
      .crossJoin(db.raw(`lateral (${details}) details`, { account }))
      .where({ 'i.channel': channel })
  const isIn = (part: Part) => {
    const isKindIn = (kind: string) => inPart(reader, kind === 'links' ? 'link' : kind, 'i.item', part)
    return `(${perKind(reader, (kind) => `i.kind = '${kind}' and ${isKindIn(kind)}`).join(' or ')})`
  }
  const source = {
    matching: () => filtered(db, items(), request, { searched: 'details.title', created: 'i.assigned', isIn }),
    position: ['i.position'],
    kept: isFiltered(request) ? undefined : () => countItems(reader, channel, account),
  }
  const found = await readPositions(source, reader, request)
  const rows = (await items()
    .whereIn(
      'i.position',
      found.rows.map(([position]) => Number(position)),
    )
    .select('i.kind', 'i.item as id', 'i.assigned', 'i.position', 'details.*')) as (ItemRow & {
    position: string
    domain: string | null
  })[]
  const { rows: sorted, ...listed } = inOrder(found, rows, ({ position }) => Number(position))
  return { ...listed, rows: sorted.map((row) => ({ ...row, id: Number(row.id), domain: idOrNull(row.domain) })) }
}
