import { linkIdAt } from '../links/addresses.ts'
import { filtered, inOrder, type Listed, type ListRequest, readPositions } from '../page.ts'
import type { Reader } from '../reader.ts'

export type { ImportFiles, ImportWork, StoredImport, StoredLine } from '../../postgres/jobs/imports.ts'

/** An import that has begun. */
export interface ListedImport {
  readonly id: string
  readonly format: string
  /** the member who has begun it, by the number within the account; null: the account's own sign-in */
  readonly member: number | null
  readonly started: Date
  readonly finished: Date | null
  readonly undone: Date | null
  /** created by it */
  readonly links: number
  /** that stayed when it was taken back */
  readonly kept: number
}
type Raw = Omit<ListedImport, 'member' | 'links' | 'kept'> &
  Readonly<{ member: string | null; links: string; kept: string }>

const columns = ['id', 'format', 'member', 'started', 'finished', 'undone', 'links', 'kept'] as const
const read = (row: Raw): ListedImport => ({
  ...row,
  member: row.member === null ? null : Number(row.member),
  links: Number(row.links),
  kept: Number(row.kept),
})

/** Returns one page of what an account has imported. */
export const listImports = async (
  reader: Reader,
  account: number,
  request: ListRequest,
): Promise<Listed<ListedImport>> => {
  const { db, table } = reader
  const all = () => db(table('imports')).where({ account })
  const matching = () => filtered(db, all(), request, { searched: 'format', created: 'started' })
  const found = await readPositions({ matching, position: ['position', 'id'] }, reader, request)
  const ids = found.rows.map(([, id]) => String(id))
  const rows = (await all()
    .whereIn('id', ids)
    .select(...columns)) as Raw[]
  return inOrder(found, rows.map(read), ({ id }) => id)
}

export const findImport = async (
  { db, table }: Reader,
  account: number,
  id: string,
): Promise<ListedImport | undefined> => {
  const [row] = (await db(table('imports'))
    .where({ account, id })
    .select(...columns)) as Raw[]
  return row && read(row)
}

/** A link at an address, and the import that has created it. */
export interface AddressedLink {
  readonly id: number
  readonly url: string
  readonly import: string | null
}

/** Returns the link of an account at an address. */
export const linkAt = async (
  reader: Reader,
  account: number,
  address: Parameters<typeof linkIdAt>[1],
): Promise<AddressedLink | undefined> => {
  const { db, table } = reader
  const row = await db(table('links'))
    .where({ account, deleted: null, id: (await linkIdAt(reader, address)) ?? 0 })
    .first<(Omit<AddressedLink, 'id'> & { readonly id: string }) | undefined>('id', 'url', 'import')
  return row && { ...row, id: Number(row.id) }
}

/** Returns links of an account that imports have created, and that lead to one of these destinations, oldest first. */
export const importedTo = async (
  { db, table }: Reader,
  account: number,
  urls: readonly string[],
): Promise<readonly AddressedLink[]> => {
  const sql = `select l.id, l.url, l.import from unnest(?::text[]) as u (url)
    join ${table('links')} l on hashtextextended(l.url, 0) = hashtextextended(u.url, 0) and l.url = u.url
    where l.account = ? and l.import is not null and l.deleted is null order by l.id`
  const { rows } = await db.raw<{ rows: (Omit<AddressedLink, 'id'> & { readonly id: string })[] }>(sql, [
    [...urls],
    account,
  ])
  return rows.map((row) => ({ ...row, id: Number(row.id) }))
}

/** A link that an import has created. */
export interface ImportedLink {
  readonly id: number
  readonly alias: string
  readonly url: string
  /** whether it was visited, or is in a channel */
  readonly used: boolean
}

/** Returns up to `limit` links of an import that are not deleted, after an id. */
export const linksOfImport = async (
  { db, table }: Reader,
  by: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly ImportedLink[]> => {
  const sql = `select id, alias, url, exists (select 1 from ${table('link_stats')} s where s.link = l.id and s.visits > 0)
      or exists (select 1 from ${table('channel_items')} c where c.kind = 'links' and c.item = l.id) as used
    from ${table('links')} l where import = ? and deleted is null and id > ? order by id limit ?`
  type Row = Omit<ImportedLink, 'id'> & { readonly id: string }
  const { rows } = await db.raw<{ rows: Row[] }>(sql, [by, after, limit])
  return rows.map((row) => ({ ...row, id: Number(row.id) }))
}
