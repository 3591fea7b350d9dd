import { prepared } from '../../postgres/database.ts'
import type { TableNames } from '../../projections/engine/projection.ts'
import type { Reader } from '../reader.ts'

/** What other services have counted. */
export interface ImportedTotals {
  readonly clicks: number
  readonly uniques: number
}

/** SQL of what other services have counted of a link, whose id is an SQL expression. */
export const importedSum = (table: TableNames, link: string, column: keyof ImportedTotals = 'clicks'): string =>
  `coalesce((select sum(i.${column}) from ${table('imported_clicks')} i where i.link = ${link}), 0)::bigint`

const totals = async ({ db, table }: Reader, column: 'link' | 'account', id: number): Promise<ImportedTotals> => {
  const sql = `select coalesce(sum(clicks), 0) as clicks, coalesce(sum(uniques), 0) as uniques
    from ${table('imported_clicks')} where ${column} = ?`
  const { rows } = await db.raw<{ rows: { clicks: string; uniques: string }[] }>(sql, [id]).options(prepared(sql))
  return { clicks: Number(rows[0]?.clicks ?? 0), uniques: Number(rows[0]?.uniques ?? 0) }
}

/** Returns what other services have counted of a link. */
export const importedOfLink = (reader: Reader, link: number): Promise<ImportedTotals> => totals(reader, 'link', link)
/** Returns what other services have counted of all links of an account, also of deleted ones. */
export const importedOfAccount = (reader: Reader, account: number): Promise<ImportedTotals> =>
  totals(reader, 'account', account)
