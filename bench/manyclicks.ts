import type { Database } from '../src/postgres/database.ts'
import { monthStart, partitionOf } from '../src/projections/statistics/clickfacts.ts'
import { dims } from '../src/projections/statistics/labels.ts'
import { orAdd } from '../src/projections/statistics/rollup.ts'

const dayMinutes = 1440

/**
 * Adds to the tables of clicks what they have, so many times, each time some days earlier. It takes a minute or two for
 * ten million clicks, which come through the log in an hour. Who is new, routes and clicks of entries stay as they
 * were: lists and counts of visits do not read them. Visits of a `rare` country stay in the earliest days alone.
 */
export const repeatClicks = async (
  db: Database,
  { times, days, rare }: { readonly times: number; readonly days: number; readonly rare: string },
): Promise<void> => {
  type Rows<R> = { rows: R[] }
  const { rows: versions } = await db.raw<Rows<{ version: number; generation: number }>>(
    `select version, generation from read.checkpoints where projection = 'stats' and live order by version desc, generation desc limit 1`,
  )
  const [{ version, generation } = { version: 0, generation: 0 }] = versions
  const table = (name: string) => `read.${name}_v${version}_${generation}`
  const { rows: known } = await db.raw<Rows<{ id: number }>>(
    `select id from ${table('labels')} where dim = ${dims.country} and label = ?`,
    [rare],
  )
  const rareId = known[0]?.id ?? -1
  const { rows: ends } = await db.raw<Rows<{ first: number; last: number }>>(
    `select min(minute) as first, max(minute) as last from ${table('clicks')}`,
  )
  const { first, last } = ends[0]!
  if (last - first >= days * dayMinutes) throw new Error(`the clicks are of more than ${days} days`)
  for (let month = monthStart(first - times * days * dayMinutes); month < last; month = monthStart(month, 1)) {
    const name = partitionOf(table('clicks'), month)
    const { rows } = await db.raw<Rows<{ there: boolean }>>(`select to_regclass(?) is not null as there`, [name])
    if (!rows[0]!.there)
      await db.raw(
        `create table ${name} (like ${table('clicks')});
         alter table ${table('clicks')} attach partition ${name} for values from (${month}) to (${monthStart(month, 1)})`,
      )
  }
  /** Repeats rows of which a column is a time, in units of so many minutes. */
  const repeat = async (
    name: string,
    time: string,
    unit: number,
    { isRare = 'false', sum = '' }: { readonly isRare?: string; readonly sum?: string } = {},
  ) => {
    const { rows } = await db.raw<Rows<{ name: string }>>(
      `select attname as name from pg_attribute where attrelid = ?::regclass and attnum > 0 and not attisdropped order by attnum`,
      [table(name)],
    )
    const shifted = rows.map((row) =>
      row.name === time ? `r.${time} - k * ${(days * dayMinutes) / unit}` : `r.${row.name}`,
    )
    const shown = rows.map((row) => row.name).join()
    // a list that is not in a temporary table would have what is added
    await db.transaction(async (tx) => {
      await tx.raw(`create temporary table repeated on commit drop as select * from ${table(name)}`)
      for (let k = times; k > 0; k--)
        await tx.raw(
          `insert into ${table(name)} as t (${shown}) select ${shifted.join()} from repeated r, (values (${k})) as k (k)
           where k = ${times} or not (${isRare}) ${sum}`,
        )
      await tx.raw(`delete from ${table(name)} r where ${isRare} and ${time} >= ${Math.floor(first / unit)}`)
    })
  }
  await repeat('clicks', 'minute', 1, { isRare: `r.country = ${rareId}` })
  const sums = ['clicks', 'uniques', 'visits', 'suspects']
  await repeat('quarters', 'quarter', 15, { sum: orAdd('subject, quarter', sums) })
  const isRare = `r.dim = ${dims.country} and r.label = ${rareId}`
  // a day may have the end of one time and the beginning of the next
  await repeat('days', 'day', dayMinutes, { isRare, sum: orAdd('subject, dim, day, label', ['clicks']) })
  for (const name of ['link_stats', 'account_stats'])
    await db.raw(
      `update ${table(name)} set ${['clicks', 'uniques', 'visits'].map((count) => `${count} = ${count} * ${times + 1}`).join()}`,
    )
  await db.raw(`update ${table('tops')} set clicks = clicks * ${times + 1}`)
}
