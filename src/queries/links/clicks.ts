import type { Knex } from 'knex'
import type { Position, Window } from '../page.ts'
import type { Reader } from '../reader.ts'
import { importedSum } from './imported.ts'

interface Clicked {
  readonly account: number
  /** Returns the links that pass the filters, as `l`. */
  readonly links: () => Knex.QueryBuilder
  /** there is no filter, apart from leaving out the archive (`archived: false`) */
  readonly all: { readonly archived: boolean | undefined } | undefined
}

/** SQL of the clicks by which an index sorts links: measured ones, and those that others have counted. */
const sum = 'clicks + elsewhere'

/** Rows further back than these are not skipped one by one. */
const near = 1000

/** A row with clicks, and how many of the rows before it belong to links that are not shown. */
interface Mark {
  readonly clicks: string
  readonly link: string
  readonly ahead: string
}

/** SQL of the rows with clicks that belong to links that are not shown: deleted ones, and those in the archive. */
const hidden = ({ table }: Reader, { archived }: NonNullable<Clicked['all']>) => {
  const away =
    archived === false
      ? `union all select id from ${table('links')} where account = :account and deleted is null and archived`
      : ''
  return `select s.clicks, s.link
    from (select id from ${table('links')} where account = :account and deleted is not null ${away}) h
    cross join lateral (select ${sum} as clicks, link from ${table('link_stats')} where link = h.id and ${sum} > 0 limit 1) s`
}

/**
 * Finds the row at a place among all rows with clicks, by the index alone. Whether a link is shown is looked up only
 * for those that are not: looking it up for each skipped row takes seconds for page 30,000 of a million links, which
 * are in no order there.
 */
const findMark = async (reader: Reader, account: number, all: NonNullable<Clicked['all']>, skip: number) => {
  const { rows } = await reader.db.raw<{ rows: Mark[] }>(
    `with hidden as materialized (${hidden(reader, all)}), mark as materialized (
       select ${sum} as clicks, link from ${reader.table('link_stats')} where account = :account and ${sum} > 0 and link > 0
       order by ${sum} desc, link desc limit 1 offset :skip)
     select mark.*, (select count(*) from hidden h where (h.clicks, h.link) > (mark.clicks, mark.link)) as ahead from mark`,
    { account, skip },
  )
  return rows[0]
}

const countClicked = async (reader: Reader, account: number, all: NonNullable<Clicked['all']>) => {
  const { rows } = await reader.db.raw<{ rows: { n: string }[] }>(
    `select (select count(*) from ${reader.table('link_stats')} where account = :account and ${sum} > 0 and link > 0)
       - (select count(*) from (${hidden(reader, all)}) h) as n`,
    { account },
  )
  return Number(rows[0]?.n ?? 0)
}

/** SQL of the clicks of a link by which lists are sorted; its id is an SQL expression. */
export const clicksOf = ({ table, clicksUpTo }: Reader, link: string): string => {
  const of = (clicks: string) => `coalesce((select ${clicks} from ${table('link_stats')} s where s.link = ${link}), 0)`
  return clicksUpTo === undefined ? of(`s.clicks + s.elsewhere`) : `${of('s.clicks')} + ${importedSum(table, link)}`
}

/**
 * Sorts links by the clicks that they had at an earlier moment, of which there is no index. They are summed up only of
 * links that had one since.
 */
const byEarlierClicks = async (
  { db, table }: Reader,
  { links, clicksUpTo }: Pick<Clicked, 'links'> & { readonly clicksUpTo: bigint },
  { after, limit, skip }: Omit<Window, 'order'>,
): Promise<readonly Position[]> => {
  const then = table('link_stats')
  // the table that the view sums up
  const now = then.replace(/_at$/, '')
  const clicks = `case when n.last > ${clicksUpTo} then (select s.clicks from ${then} s where s.link = n.link) else n.clicks end`
  const page = db('summed').select('clicks', 'id').orderByRaw('clicks desc, id desc').offset(skip)
  if (after) void page.whereRaw('(clicks, id) < (?, ?)', [...after])
  const rows = (await page
    .withMaterialized('found', links().select('l.id'))
    .withMaterialized(
      'summed',
      db.raw(
        `select f.id, coalesce((select ${clicks} from ${now} n where n.link = f.id), 0) + ${importedSum(table, 'f.id')} as clicks
         from found f`,
      ),
    )
    .limit(limit + 1)) as { clicks: string; id: string }[]
  return rows.map(({ clicks, id }) => [Number(clicks), Number(id)])
}

/**
 * Finds links with clicks by the index on clicks, then links without. The subqueries are written so that the planner
 * cannot turn them into joins over all links: the cost of a page does not grow with the number of links. Rows are
 * sorted before their links are looked up, because PostgreSQL would look up all links and then sort, as long as it has
 * not analyzed the table.
 */
export const byClicks = async (
  reader: Reader,
  { account, links, all }: Clicked,
  { after, limit, skip }: Window,
): Promise<readonly Position[]> => {
  const { db, table, clicksUpTo } = reader
  if (clicksUpTo !== undefined) return byEarlierClicks(reader, { links, clicksUpTo }, { after, limit, skip })
  const [clicks = 0, id = 0] = after ?? []
  const ranked = () => {
    const rows = db(table('link_stats'))
      .where({ account })
      .whereRaw(`${sum} > 0`)
      .select(db.raw(`${sum} as clicks`), 'link')
    return after ? rows.whereRaw(`(${sum}, link) < (?, ?)`, [clicks, id]) : rows
  }
  const shown = (rows: Knex.QueryBuilder) =>
    db(rows.as('s')).crossJoin(db.raw('lateral (?) as l', [links().whereRaw('l.id = s.link').select('l.id').limit(1)]))
  const readClicked = async () => {
    const rows = ranked().orderByRaw(`${sum} desc, link desc`)
    const page = shown(rows)
      .select('s.clicks', 's.link')
      .orderByRaw('s.clicks desc, s.link desc')
      .limit(limit + 1)
    if (!all || skip < near) return page.offset(skip)
    const mark = await findMark(reader, account, all, skip)
    if (!mark) return []
    void rows.whereRaw(`(${sum}, link) <= (?, ?)`, [mark.clicks, mark.link])
    return page.offset(Number(mark.ahead))
  }
  const first = (await readClicked()) as { clicks: string; link: string }[]
  const positions = first.map((row) => [Number(row.clicks), Number(row.link)])
  const missing = limit + 1 - first.length
  if (missing === 0) return positions
  const count = async () =>
    all
      ? countClicked(reader, account, all)
      : Number(((await shown(ranked()).count('* as n')) as { n: string }[])[0]?.n)
  const before = skip === 0 || first.length > 0 ? skip : await count()
  const rest = links()
    // not `= 0`: the planner would expect few links, and sort all matches of `q` instead of reading the newest
    .whereRaw(`${clicksOf(reader, 'l.id')} < 1`)
    .select('l.id')
    .orderBy('l.id', 'desc')
    .limit(missing)
    .offset(Math.max(0, skip - before))
  if (after && Number(clicks) === 0) void rest.where('l.id', '<', id)
  return [...positions, ...((await rest) as { id: string }[]).map((row) => [0, Number(row.id)])]
}
