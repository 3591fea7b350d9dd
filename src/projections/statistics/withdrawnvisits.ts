import type { Knex } from 'knex'
import type { Recorded } from '../../events/event.ts'
import type { Event } from '../../events/index.ts'
import { absent, changedFacts, columns, createChanged, noteCorrections } from './changedfacts.ts'
import { factColumns, minuteOf } from './clickfacts.ts'
import { column } from '../engine/columns.ts'
import { correctSums } from './correctsums.ts'
import { markFirst } from './firsts.ts'
import type { TableNames } from '../engine/projection.ts'
import { earliest } from './rollup.ts'

export type Withdrawn = Recorded<Event<'ImportedVisitsWithdrawn'>>

interface Row {
  readonly position: string
  readonly first: number
  readonly last: number
}

const write = async (tx: Knex, names: TableNames, { position, data }: Withdrawn) => {
  const since = data.since === undefined ? earliest : minuteOf(data.since)
  const { rows } = await tx.raw<{ rows: Row[] }>(
    `update ${names('visit_imports')} set gone = ${position}
     where import = ? and account = ? and revision >= ? and gone is null returning position, first, last`,
    [data.import, data.account, data.from],
  )
  if (rows.length === 0) return
  const first = rows.reduce((found, row) => Math.min(found, row.first), rows[0]!.first)
  const last = rows.reduce((found, row) => Math.max(found, row.last), rows[0]!.last)
  await tx.raw(createChanged)
  await tx.raw(
    `with gone as (
       delete from ${names('clicks')} c using unnest(?::bigint[]) as e (position)
       where c.account = ${data.account} and c.minute >= ${Math.max(first, since)} and c.minute <= ${last} and c.seq / 1000 = e.position
       returning c.*
     ), kept as (
       insert into ${names('withdrawn_visits')} (gone, ${factColumns.join()}) select ${position}, ${factColumns.join()} from gone
     )
     insert into ${changedFacts} (${columns.join()}, was, now) select ${columns.join()}, class, ${absent} from gone`,
    [column(rows, (row) => row.position)],
  )
  await tx.raw(`analyze ${changedFacts}`)
  await markFirst(tx, names, since)
  await noteCorrections(tx, names, position)
  await correctSums(tx, names, position)
  await tx.raw(`drop table ${changedFacts}`)
}

/**
 * Takes visits of another service back. They go from the facts to a table of their own, where questions about an
 * earlier time find them, so that the present has nothing of them. Those that are not kept one by one stay in the sums.
 */
export const takeBack = (db: Knex, names: TableNames, event: Withdrawn): Promise<void> =>
  // a savepoint within the projector's transaction
  db.transaction((tx) => write(tx, names, event))
