import { details } from '../../projections/statistics/labels.ts'
import type { Reader } from '../reader.ts'

/**
 * Returns whether visits were recorded by other rules than those of a version, and no reclassification has applied
 * these. Only the texts of user agents are read, so it does not say that a class differs: a plan does.
 */
export const hasOtherRules = async ({ db, table }: Reader, version: number): Promise<boolean> => {
  const { rows } = await db.raw<{ rows: { found: boolean }[] }>(
    `select exists (select from ${table('details')} where dim = ${details.profile} and label not like ?)
       and not exists (select from ${table('reclassifications')} where rules = ? and undone is null) as found`,
    [`[${version},%`, version],
  )
  return rows[0]?.found ?? false
}
