import type { LinkFields, Unframed } from '../../events/links/link.ts'
import { linkColumns } from '../../projections/links/link.ts'
import type { TableNames } from '../../projections/engine/projection.ts'
import {
  contains,
  filtered,
  inOrder,
  isFiltered,
  type Listed,
  type ListedPart,
  type ListRequest,
  type Position,
  readPositions,
  type Source,
} from '../page.ts'
import { inPart } from '../accounts/part.ts'
import { type OtherAddress, otherAddresses, reachableAddress } from './addresses.ts'
import { byClicks, clicksOf } from './clicks.ts'
import { type ImportedTotals, importedSum } from './imported.ts'
import { type LinkFilter, matching } from './matching.ts'
import { idOrNull, planned, type Reader } from '../reader.ts'

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
  /** whether its address leads to the service: its domain is verified and not deleted */
  readonly reachable: boolean
  /** the number of its main address */
  readonly main: number
  /** its other addresses; null: none */
  readonly others: readonly OtherAddress[] | null
}
/** As the driver returns it: bigint columns are strings. */
type Raw = Omit<LinkRow, 'id' | 'domain' | 'campaign' | 'revision' | 'main'> & {
  id: string
  domain: string | null
  campaign: string | null
  revision: string
  main: number | null
}

const typed = <R extends Pick<Raw, 'id' | 'domain' | 'campaign' | 'revision' | 'main'>>(row: R) => ({
  ...row,
  id: Number(row.id),
  domain: idOrNull(row.domain),
  campaign: idOrNull(row.campaign),
  revision: Number(row.revision),
  main: row.main ?? 1,
})

const fields = [
  'id',
  ...linkColumns.filter((name) => name !== 'campaign'),
  'unframed',
  'created',
  'revision',
  'main',
].map((name) => `l.${name}`)
/** What a list shows: rules, variants and notes may be hundreds of KB, and stay where they are. */
const shown = [
  ...(['id', 'alias', 'domain', 'url', 'entered', 'title', 'description', 'metatitle', 'metadescription'] as const),
  ...(['tags', 'archived', 'starts', 'expiry', 'max_clicks', 'created', 'revision', 'main'] as const),
]
export interface LinkListRow extends Pick<
  LinkRow,
  (typeof shown)[number] | 'campaign' | 'password' | 'reachable' | 'others'
> {
  /** those that were measured here */
  readonly clicks: number
  readonly uniques: number
  /** those of them that were not imported one by one: they end a link by `max_clicks` */
  readonly own: number
  /** those that other services have counted */
  readonly imported: ImportedTotals
}
/** When a campaign or a domain is deleted, its links keep its id; the API shows null for the campaign. */
const calculated = (table: TableNames) =>
  `l.password is not null as password, (select c.id from ${table('campaigns')} c where c.id = l.campaign and c.deleted is null) as campaign,
   (l.domain is null or exists ${reachableAddress(table, 'l')}) as reachable,
   ${otherAddresses(table, 'l.id')} as others`

/** The text of a link that lists search, as SQL. */
export const linkText = `(alias || E'\\n' || title || E'\\n' || metatitle || E'\\n' || url || E'\\n' || coalesce(entered, ''))`

/** The projection maintains the number of all links, and of those in the archive. */
const countAll = ({ db, table }: Reader, account: number, archived: boolean | undefined) => {
  const n = archived === undefined ? 'n' : archived ? 'archived' : 'n - archived'
  return db(table('link_counts')).where({ account }).select(db.raw(n))
}

/** Links as a list sees them: its filters, and the columns that it is sorted by. */
const sourceOf = (reader: Reader, account: number, filter: LinkFilter, request: ListRequest): Source => {
  const { db, table } = reader
  const { archived, ...others } = filter
  const isPart = isFiltered(request) || Object.values(others).some((value) => value !== undefined)
  const links = () =>
    filtered(db, matching(reader, account, filter), request, {
      searched: linkText,
      orFound: (q) => {
        const byAlias = contains(db, 'alias', q)
        return db.raw(
          `l.id = any(array(select link from ${table('link_addresses')} where account = ? and deleted is null and ?))`,
          [account, byAlias],
        )
      },
      created: 'l.created',
      isIn: (part) => inPart(reader, 'link', 'l.id', part),
    })
  const byDate = request.from || request.to ? ['l.created', 'l.id'] : ['l.id']
  return {
    matching: links,
    position: request.order === 'click' ? [clicksOf(reader, 'l.id'), 'l.id'] : byDate,
    sorted:
      request.order === 'click'
        ? (window) =>
            byClicks(reader, { account, links, all: isPart || archived === true ? undefined : { archived } }, window)
        : undefined,
    kept: isPart ? undefined : () => countAll(reader, account, archived),
    counted: isFiltered(request)
      ? undefined
      : async () => Number(((await links().count('* as n')) as { n: string }[])[0]?.n ?? 0),
  }
}

type ListRaw = Pick<Raw, Extract<keyof LinkListRow, keyof Raw>> &
  Readonly<Record<'clicks' | 'uniques' | 'own' | 'imported' | 'imported_uniques', string>>

/** What makes a row large, by the column of the answer that has it, and what is read where that is not shown. */
const large: Readonly<Record<string, readonly [columns: readonly (typeof shown)[number][], instead: string]>> = {
  title: [['title', 'metatitle'], `''`],
  description: [['description', 'metadescription'], `''`],
  tags: [['tags'], `'{}'::text[]`],
}
const columnsFor = ({ shown: wanted = new Set() }: ListRequest) => {
  const unread = new Map(
    Object.entries(large).flatMap(([name, [columns, instead]]) =>
      wanted.size === 0 || wanted.has(name) ? [] : columns.map((column) => [column, instead] as const),
    ),
  )
  return shown.map((name) => (unread.has(name) ? `${unread.get(name)} as ${name}` : `l.${name}`)).join()
}

/** Reads links on the positions of a page, the first `atOnce` of them, and the others when they are asked for. */
const readRows = async (
  reader: Reader,
  { rows: positions, ...found }: Listed<Position>,
  columns: string,
  { account, atOnce }: { readonly account: number; readonly atOnce: number },
): Promise<ListedPart<LinkListRow>> => {
  const { db, table } = reader
  const [first, others] = [positions.slice(0, atOnce), positions.slice(atOnce)]
  const ids = first.map((position) => Number(position.at(-1)))
  // one after another and by the id alone: as long as PostgreSQL has not analyzed the table, it would read all links of
  // the account
  const sql = `
    select ${columns}, coalesce(s.clicks, 0) as clicks, coalesce(s.uniques, 0) as uniques, coalesce(s.clicks - s.imported, 0) as own,
      ${importedSum(table, 'p.id')} as imported, ${importedSum(table, 'p.id', 'uniques')} as imported_uniques, ${calculated(table)}
    from unnest(?::bigint[]) as p (id)
    cross join lateral (select * from ${table('links')} l where l.id = p.id limit 1) as l
    left join ${table('link_stats')} s on s.link = l.id
    where l.account = ? and l.deleted is null`
  const { rows } = await db.raw<{ rows: ListRaw[] }>(sql, [ids, account]).options(planned(reader, sql))
  const listed = inOrder(
    { ...found, rows: first },
    rows.map(({ clicks, uniques, own, imported, imported_uniques: more, ...row }) => ({
      ...typed(row),
      clicks: Number(clicks),
      uniques: Number(uniques),
      own: Number(own),
      imported: { clicks: Number(imported), uniques: Number(more) },
    })),
    ({ id }) => id,
  )
  const rest = () => readRows(reader, { ...found, rows: others }, columns, { account, atOnce })
  return { ...listed, rest: others.length > 0 ? rest : undefined }
}

/** Lists links; a page of more than `atOnce` is read in parts. */
export const listLinks = async (
  reader: Reader,
  account: number,
  filter: LinkFilter,
  request: ListRequest,
  atOnce = Infinity,
): Promise<ListedPart<LinkListRow>> => {
  const found = await readPositions(sourceOf(reader, account, filter, request), reader, request)
  return readRows(reader, found, columnsFor(request), { account, atOnce })
}

/** Returns those of the pixels that are not deleted, in the same order. */
export const existingPixels = async ({ db, table }: Reader, ids: readonly number[]) => {
  if (ids.length === 0) return []
  const rows = (await db(table('pixels')).whereIn('id', ids).where({ deleted: null }).select('id')) as { id: string }[]
  const existing = new Set(rows.map(({ id }) => Number(id)))
  return ids.filter((id) => existing.has(id))
}

export const findLink = async (reader: Reader, account: number, id: number): Promise<LinkRow | undefined> => {
  const { db, table } = reader
  const sql = `
    select ${fields.join()}, ${calculated(table)}, (select n.notes from ${table('link_notes')} n where n.link = l.id) as notes from ${table('links')} l where id = ? and account = ? and deleted is null`
  const { rows } = await db.raw<{ rows: Raw[] }>(sql, [id, account]).options(planned(reader, sql))
  return rows[0] && typed(rows[0])
}
