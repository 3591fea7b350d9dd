import { checkpoints } from '../../projections/engine/tables.ts'
import { stats } from '../../projections/statistics/stats.ts'
import { planned, type Reader } from '../reader.ts'

/** The clicks of a link that was followed here, as the tables have them. */
export interface CountedClicks {
  readonly clicks: number
  /** up to which the tables contain the log */
  readonly position: bigint
}

/** Returns the clicks of some links, in their order. */
export const countClicks = async (reader: Reader, links: readonly number[]): Promise<readonly CountedClicks[]> => {
  const { db, table } = reader
  const sql = `
    select coalesce(s.clicks - s.imported, 0) as clicks, (
      select coalesce(min(position), 0) from ${checkpoints}
      where projection = '${stats.name}' and version = ${stats.version} and live) as position
    from unnest(?::bigint[]) with ordinality as w (link, n) left join ${table('link_stats')} s on s.link = w.link order by n`
  const { rows } = await db
    .raw<{ rows: { clicks: string; position: string }[] }>(sql, [[...links]])
    .options(planned(reader, sql))
  return rows.map(({ clicks, position }) => ({ clicks: Number(clicks), position: BigInt(position) }))
}
