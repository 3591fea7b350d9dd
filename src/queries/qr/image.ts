import { projectionsWith } from '../../projections/index.ts'
import { qrs } from '../../projections/qr/qr.ts'
import { checkpoints } from '../../projections/engine/tables.ts'
import type { Reader } from '../reader.ts'

/** rows deleted by one statement at most */
const limit = 500

/**
 * Deletes images that were last stored more than a day ago and that no event up to `head` names, and returns their
 * number. Images of accounts that do not exist are kept: the tables may be those of another log. Deletes nothing while
 * the tables are behind `head`. Once a newer release has filled tables, only those of erased accounts: our tables leave
 * its events out, and they may name images.
 */
export const deleteUnusedImages = async ({ db, table }: Reader, head: bigint): Promise<number> => {
  // the second condition on `used_at` holds for a row that is stored again while this statement runs
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `delete from state.images where used_at < now() - interval '1 day' and (account, hash) in (
       select i.account, i.hash from state.images i join ${table('accounts')} a on a.id = i.account
       where i.used_at < now() - interval '1 day'
         and (a.status = 'erased' or not exists (
           select 1 from ${table('qr_logos')} named where named.account = i.account and named.hash = i.hash
         ) and not exists (
           select 1 from ${checkpoints} c left join json_to_recordset(?::json) as known (name text, version int) on known.name = c.projection
           where c.version > coalesce(known.version, 0)))
         and exists (select 1 from ${checkpoints} where projection = ? and version = ? and live and position >= ?)
       limit ${limit})`,
    [
      JSON.stringify(projectionsWith({ withPast: true }).map(({ name, version }) => ({ name, version }))),
      qrs.name,
      qrs.version,
      head.toString(),
    ],
  )
  return rowCount
}
