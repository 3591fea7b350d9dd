import type { ItemKind } from '../../events/links/channel.ts'
import type { Item } from '../../events/subject.ts'
import { subjects, visited } from '../../projections/statistics/clickfacts.ts'
import { inPart, type Part } from '../accounts/part.ts'
import { isOnDomains } from '../links/addresses.ts'
import type { Reader } from '../reader.ts'

/** Where items have to be: in all of these. */
export interface Within {
  readonly link?: number | undefined
  readonly campaign?: number | undefined
  readonly channel?: number | undefined
  /** null: the service's own host */
  readonly domain?: number | null | undefined
  /** all of which a link must have */
  readonly tags?: readonly string[] | undefined
  /** what of the account they are */
  readonly part?: Part | undefined
}

/** Whether items have to be anywhere at all. */
export const isWithin = ({ link, campaign, channel, domain, tags, part }: Within): boolean =>
  [link, campaign, channel, domain, tags, part].some((part) => part !== undefined)

const tables = { links: 'links', bio: 'bios', qr: 'qrs' } as const
const streamsOf = (kind: ItemKind) => (kind === 'links' ? 'link' : kind)

/** The name of an item in the result of `itemsWithin`. */
export const itemKey = ({ kind, id }: Item) => `${kind}/${id}`

/**
 * Returns which items of an account are in a campaign, a channel and on a domain now, also deleted ones. Campaigns,
 * domains and tags have links only.
 */
export const itemsWithin = async (
  reader: Reader,
  account: number,
  { link, campaign, channel, domain, tags: wantedTags, part }: Within,
  items: readonly Item[],
): Promise<ReadonlySet<string>> => {
  const { db, table } = reader
  const onlyLinks = [link, campaign, domain, wantedTags].some((part) => part !== undefined)
  const found = new Set<string>()
  for (const kind of Object.keys(tables) as ItemKind[]) {
    const ids = [...new Set(items.filter((item) => item.kind === kind).map(({ id }) => id))]
    const wanted = kind === 'links' && link !== undefined ? ids.filter((id) => id === link) : ids
    if (wanted.length === 0 || (kind !== 'links' && onlyLinks)) continue
    const rows = db({ i: table(tables[kind]) })
      .where({ account })
      .whereRaw('i.id = any (?::bigint[])', [wanted])
    if (campaign !== undefined) void rows.where({ campaign })
    if (domain !== undefined) void rows.whereRaw(isOnDomains(table, 'i', '?::bigint'), [domain ?? 0, domain ?? 0])
    if (wantedTags) void rows.whereRaw('i.tags @> ?::text[]', [[...wantedTags]])
    if (part) void rows.whereRaw(inPart(reader, streamsOf(kind), 'i.id', part))
    if (channel !== undefined)
      void rows.whereRaw(
        `exists (select from ${table('channel_items')} c where c.channel = ? and c.kind = ? and c.item = i.id)`,
        [channel, kind],
      )
    for (const { id } of (await rows.select('i.id as id')) as { id: string }[])
      found.add(itemKey({ kind, id: Number(id) }))
  }
  return found
}

/** what is visited through an item, as facts of clicks have it */
const visitedThrough = {
  links: ['i.id'],
  qr: [`${subjects.qr(0)} - i.id`],
  bio: [`${subjects.bio(0)} - i.id`, `${subjects.view(0)} - i.id`],
} as const
/** Items up to this number are named in the SQL, so that their clicks are looked up instead of all of the account. */
const mostNamed = 500

/** Returns the links of a campaign that are not deleted; undefined when there are many. */
export const linksIn = async ({ db, table }: Reader, campaign: number): Promise<readonly number[] | undefined> => {
  const rows = (await db(table('links'))
    .where({ campaign, deleted: null })
    .limit(mostNamed + 1)
    .select('id')) as { readonly id: string }[]
  return rows.length > mostNamed ? undefined : rows.map(({ id }) => Number(id))
}

/** SQL of what was visited, and of the QR codes by which links were visited: an empty text where there are none. */
export interface VisitedWithin {
  readonly visited: string
  readonly codes: string
}
/**
 * Returns what of an account is in a campaign and a channel now, and not deleted, as facts of clicks have it; a link
 * that was visited by way of a QR code is visited through both. The ids have to be those of the account's own.
 */
export const visitedWithin = async (
  reader: Reader,
  { campaign, channel, part }: Pick<Within, 'campaign' | 'channel' | 'part'>,
): Promise<VisitedWithin> => {
  const { db, table } = reader
  const kinds = (Object.keys(tables) as ItemKind[]).filter((kind) => kind === 'links' || campaign === undefined)
  const through = (kind: ItemKind) => {
    const items = `from ${table(tables[kind])} i where i.deleted is null`
    const inCampaign = campaign === undefined ? '' : ` and i.campaign = ${campaign}`
    // an array of ids instead of a join: without planner statistics, PostgreSQL would scan all items for each link
    const members = `select item from ${table('channel_items')} where channel = ${channel} and kind = '${kind}'`
    const inChannel = channel === undefined ? '' : ` and i.id = any(array(${members}))`
    const isIn = part && ` and i.account = ${part.account} and ${inPart(reader, streamsOf(kind), 'i.id', part)}`
    return visitedThrough[kind]
      .map((visited) => `select ${visited} as visited ${items}${inCampaign}${inChannel}${isIn ?? ''}`)
      .join(' union all ')
  }
  const all = kinds.map(through).join(' union all ')
  const { rows } = await db.raw<{ rows: { visited: string }[] }>(`${all} limit ${mostNamed + 1}`)
  if (rows.length === 0) return { visited: 'false', codes: '' }
  const named = rows.length <= mostNamed ? rows.map((row) => row.visited) : undefined
  const codes = named?.filter((subject) => visited(Number(subject)).of === 'qr').join() ?? through('qr')
  return { visited: `link in (${named?.join() ?? all})`, codes: kinds.includes('qr') ? codes : '' }
}
