import type { Knex } from 'knex'
import { column } from '../engine/columns.ts'
import { dimensions } from './labels.ts'
import type { TableNames } from '../engine/projection.ts'

/**
 * The facts whose classes an event changes, with the class before and after it. The table exists while the event is
 * applied: statements that read it correct what is counted from facts.
 */
export const changedFacts = 'changed_facts'
/** The class of a visit in `changed_facts` before it is there, and after it is taken back. */
export const absent = 98

/** The columns of a fact that corrections need. */
export const columns = ['seq', 'visitor', 'link', 'account', 'minute', 'route', ...dimensions] as const

/** SQL that creates the table for the time of a transaction. */
export const createChanged = `
  create temp table ${changedFacts} (
    seq bigint primary key, visitor bigint not null, link bigint not null, account bigint not null, minute int not null,
    ${['route', ...dimensions].map((name) => `${name} int not null`).join()}, was smallint not null, now smallint not null)
  on commit drop`

/**
 * SQL of the facts `c` at places `n`, which have a `seq`, a minute, and a link or an account. Each minute is read once,
 * however many of its facts are asked for: no index has their order, and a planner whose statistics are old looks
 * through the minute for each of them. It needs `readOnce`.
 */
export const factsAt = (names: TableNames, places: string, key: 'link' | 'account' = 'link') => `
  (select distinct ${key}, minute from (${places}) p) m
  cross join lateral (select * from ${names('clicks')} c where c.${key} = m.${key} and c.minute = m.minute offset 0) c
  join (${places}) n on n.${key} = c.${key} and n.minute = c.minute and n.seq = c.seq`

/** SQL of a statement whose joins are made by hash tables, where they are not lateral. */
export const readOnce = (statement: string) =>
  `set local enable_nestloop = off; ${statement}; set local enable_nestloop = default`

/** facts of a link in a minute that are each looked for among all of that minute */
const fewOfMinute = 8

/** Sets the classes of facts: `places` is SQL of their links, minutes, `seq` and classes. */
export const setClasses = async (tx: Knex, names: TableNames, places: string) => {
  const counted = `(select p.*, count(*) over (partition by link, minute) as together from (${places}) p) n`
  const update = (where: string) =>
    `update ${names('clicks')} c set class = n.class from ${counted}
     where n.link = c.link and n.minute = c.minute and n.seq = c.seq and ${where}`
  const { rows } = await tx.raw<{ rows: { link: string; minutes: number[] }[] }>(
    `select link, array_agg(distinct minute) as minutes from ${counted} where together > ${fewOfMinute} group by 1 order by 1`,
  )
  for (const { link, minutes } of rows) {
    const these = `c.link = ${link} and c.minute = any('${column(minutes, (minute) => minute)}'::int[])`
    await tx.raw(readOnce(update(`${these} and n.link = ${link} and n.together > ${fewOfMinute}`)))
  }
  // each is found by its index: a join would read all facts of the links
  await tx.raw(
    `set local enable_hashjoin = off; set local enable_mergejoin = off; set local enable_seqscan = off;
     ${update(`n.together <= ${fewOfMinute}`)};
     set local enable_hashjoin = default; set local enable_mergejoin = default; set local enable_seqscan = default`,
  )
}

/** Writes down the classes of visits before and after an event, unless it adds them or takes them back. */
export const noteCorrections = (tx: Knex, names: TableNames, position: bigint) =>
  tx.raw(
    `insert into ${names('corrections')} (seq, position, link, minute, was, now)
     select seq, ${position}, link, minute, was, now from ${changedFacts} where ${absent} not in (was, now) order by seq`,
  )
