import type { Knex } from 'knex'
import { changedFacts, columns, createChanged, factsAt, noteCorrections, readOnce, setClasses } from './changedfacts.ts'
import { scanOffset } from './clickfacts.ts'
import { correctSums } from './correctsums.ts'
import { markFirst } from './firsts.ts'
import type { TableNames } from '../engine/projection.ts'

/** What an event changes: SQL of facts, as rows of `clicks`, with their `target`, the class that they get. */
interface Correction {
  /** of the event */
  readonly position: bigint
  /** the first minute whose visits are kept one by one */
  readonly since: number
  readonly changes: string
}

/** Adds the scans by which changed visits of links came: they change alike. */
const addScans = (tx: Knex, names: TableNames) => {
  const scans = `
    select -account as account, minute, seq + ${scanOffset} as seq, now from ${changedFacts} where account > 0 and link > 0`
  return tx.raw(
    `${readOnce(`
      insert into ${changedFacts} (${columns.join()}, was, now)
      select ${columns.map((name) => `c.${name}`).join()}, c.class, n.now from ${factsAt(names, scans, 'account')}
      on conflict do nothing`)};
     analyze ${changedFacts}`,
  )
}

/** Gives visits other classes, and corrects everything that is counted from them. */
export const correctCounters = async (tx: Knex, names: TableNames, { position, since, changes }: Correction) => {
  await tx.raw(createChanged)
  await tx.raw(
    `${readOnce(`
      insert into ${changedFacts} (${columns.join()}, was, now) select ${columns.join()}, class, target from (${changes}) c`)};
     analyze ${changedFacts}`,
  )
  await addScans(tx, names)
  const { rows } = await tx.raw<{ rows: { any: boolean }[] }>(`select exists (select from ${changedFacts}) as any`)
  if (rows[0]?.any) {
    await setClasses(tx, names, `select link, minute, seq, now as class from ${changedFacts}`)
    await markFirst(tx, names, since)
    await noteCorrections(tx, names, position)
    await correctSums(tx, names, position)
  }
  await tx.raw(`drop table ${changedFacts}`)
}
