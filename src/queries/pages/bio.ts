import { type BioFields, entriesOf } from '../../events/pages/bio.ts'
import { subjects } from '../../projections/statistics/clickfacts.ts'
import { allEntries } from '../../projections/statistics/entrystats.ts'
import { findOwned, listOwned, type OwnedRow } from '../owned.ts'
import type { Listed, ListRequest } from '../page.ts'
import type { Reader } from '../reader.ts'

export type BioRow = OwnedRow & BioFields
/** What a list shows of a page, with counts: the entries may be 60 KB, and stay where they are. */
const shown = ['id', 'name', 'alias', 'title', 'created', 'revision'] as const
export interface BioListRow extends Pick<BioRow, (typeof shown)[number]> {
  readonly views: number
  /** on any of its entries, those that were deleted included */
  readonly clicks: number
}

export const listBios = async (reader: Reader, account: number, request: ListRequest): Promise<Listed<BioListRow>> => {
  const { db, table } = reader
  const views = db.raw(
    `(select s.clicks from ${table('link_stats')} s where s.link = ${subjects.view(0)} - b.id) as views`,
  )
  const clicks = db.raw(
    `(select s.clicks from ${table('entry_stats')} s where s.bio = b.id and s.entry = ${allEntries}) as clicks`,
  )
  const { rows, ...listed } = await listOwned<BioListRow>(reader, { kind: 'bio' }, account, request, (ids) =>
    db({ b: table('bios') })
      .where({ account, deleted: null })
      .whereIn('b.id', ids)
      .select([...shown.map((name) => `b.${name}`), views, clicks]),
  )
  return { ...listed, rows: rows.map((row) => ({ ...row, views: Number(row.views), clicks: Number(row.clicks) })) }
}

export const findBio = (reader: Reader, account: number, id: number) => findOwned<BioRow>(reader, 'bios', account, id)

/** Clicks without bots, previews and prefetches. */
export interface EntryClicks {
  readonly clicks: number
  readonly uniques: number
}

/** Returns the clicks on the entries of a bio page: on all, and on each of those that it has now. */
export const entryClicks = async (
  { db, table }: Reader,
  { id, links }: Pick<BioRow, 'id' | 'links'>,
): Promise<{ readonly total: EntryClicks; readonly of: (entry: number) => EntryClicks }> => {
  const rows = await db<{ bio: number; entry: number; clicks: string; uniques: string }>(table('entry_stats'))
    .where({ bio: id })
    .whereIn('entry', [allEntries, ...entriesOf(links).map((entry) => entry.id)])
  const of = (wanted: number) => {
    const row = rows.find(({ entry }) => entry === wanted)
    return { clicks: Number(row?.clicks ?? 0), uniques: Number(row?.uniques ?? 0) }
  }
  return { total: of(allEntries), of }
}
