import type { Knex } from 'knex'
import { inPart, type Part } from '../accounts/part.ts'
import { importedSum } from '../links/imported.ts'
import type { Reader } from '../reader.ts'

/** What became of several links together. A visitor of two of them counts twice, as in the totals of an account. */
export interface LinkTotals {
  readonly links: number
  readonly clicks: number
  readonly uniques: number
  /** clicks that other services have counted, which are in `clicks` */
  readonly imported: number
}

/** Returns the totals of some links, given as a query of `links` as `l`. */
const totalsOf = async ({ db, table }: Reader, links: Knex.QueryBuilder): Promise<LinkTotals> => {
  const [row] = (await links
    .clone()
    .leftJoin({ s: table('link_stats') }, 's.link', 'l.id')
    .count('* as links')
    .select(
      db.raw(`sum(coalesce(s.clicks, 0) + ${importedSum(table, 'l.id')}) as clicks`),
      db.raw(`sum(coalesce(s.uniques, 0) + ${importedSum(table, 'l.id', 'uniques')}) as uniques`),
      db.raw(`sum(${importedSum(table, 'l.id')}) as imported`),
    )) as Readonly<Record<keyof LinkTotals, string | null>>[]
  const of = (name: keyof LinkTotals) => Number(row?.[name] ?? 0)
  return { links: of('links'), clicks: of('clicks'), uniques: of('uniques'), imported: of('imported') }
}

/** Whose links are counted: those of an account, or of the part of it that a caller is limited to. */
interface Counting {
  readonly account: number
  readonly limited: Part | undefined
}
const ownLinks = (reader: Reader, { account, limited }: Counting) =>
  reader
    .db({ l: reader.table('links') })
    .where({ 'l.account': account, 'l.deleted': null })
    .whereRaw(limited ? inPart(reader, 'link', 'l.id', limited) : 'true')

export const campaignTotals = (reader: Reader, of: Counting, campaign: number): Promise<LinkTotals> =>
  totalsOf(reader, ownLinks(reader, of).where({ 'l.campaign': campaign }))

/** Of the links in a channel; its QR codes and bio pages count on their own. */
export const channelTotals = (reader: Reader, of: Counting, channel: number): Promise<LinkTotals> =>
  totalsOf(
    reader,
    // an array of ids instead of a join: without planner statistics, PostgreSQL would scan all items for each link
    ownLinks(reader, of).whereRaw(
      `l.id = any(array(select item from ${reader.table('channel_items')} where channel = ? and kind = 'links'))`,
      [channel],
    ),
  )
