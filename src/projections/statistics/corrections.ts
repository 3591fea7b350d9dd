import type { Knex } from 'knex'
import { classes, scanOffset } from './clickfacts.ts'
import { column } from '../engine/columns.ts'
import { changedFacts, correctSums } from './correctsums.ts'
import { dimensions } from './labels.ts'
import type { TableNames } from '../engine/projection.ts'

/** The persons whose first visit is another one after an event. The table exists while the event is applied. */
const movedFirsts = 'moved_firsts'

/** The columns of a fact that corrections need. */
const columns = ['seq', 'visitor', 'link', 'account', 'minute', 'route', ...dimensions] as const

const createChanged = `
  create temp table ${changedFacts} (
    seq bigint primary key, visitor bigint not null, link bigint not null, account bigint not null, minute int not null,
    ${['route', ...dimensions].map((name) => `${name} int not null`).join()}, was smallint not null, now smallint not null)`

/** What an event changes: SQL of facts, as rows of `clicks`, with their `target`, the class that they get. */
interface Correction {
  /** of the event */
  readonly position: bigint
  /** the first minute whose visits are kept one by one */
  readonly since: number
  readonly changes: string
}

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
const readOnce = (statement: string) =>
  `set local enable_nestloop = off; ${statement}; set local enable_nestloop = default`

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

/** facts of a link in a minute that are each looked for among all of that minute */
const fewOfMinute = 8

/** Sets the classes of facts: `places` is SQL of their links, minutes, `seq` and classes. */
const setClasses = async (tx: Knex, names: TableNames, places: string) => {
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

/**
 * Finds whose first visit is another one now: they have lost it, or have an earlier visit again. The first visit that
 * is no longer kept one by one stays the first.
 */
const findMoved = (names: TableNames, since: number) => `
  create temp table ${movedFirsts} on commit drop as
  with pair as (
    select link, visitor, bool_or(was = ${classes.first}) as lost, min(seq) filter (where was > ${classes.human} and now = ${classes.human}) as gained
    from ${changedFacts} group by 1, 2
  ), mark as (
    select p.*, v.seq as marked, v.minute as marked_minute from pair p left join ${names('visitors')} v using (link, visitor)
    where p.lost or p.gained is not null
  )
  select m.link, m.visitor, m.lost, m.marked, m.marked_minute, n.seq, n.minute
  from mark m left join lateral (
    select c.seq, c.minute from ${names('clicks')} c
    where c.link = m.link and c.visitor = m.visitor and c.class = ${classes.human} and c.minute >= ${since} order by c.seq limit 1
  ) n on true
  where m.lost or m.marked is null or (m.marked_minute >= ${since} and m.gained < m.marked);
  analyze ${movedFirsts}`

/** Marks the earliest visit of each person as the first one, and keeps `visitors`, who have one. */
const markFirst = async (tx: Knex, names: TableNames, since: number) => {
  await tx.raw(findMoved(names, since))
  const become = `
    select link, minute, seq, ${classes.human} as was, ${classes.first} as class from ${movedFirsts} where seq is not null`
  const were = `
    select link, marked_minute as minute, marked as seq, ${classes.first} as was, ${classes.human} as class
    from ${movedFirsts} where not lost and marked is not null`
  const places = `${were} union all ${become}`
  await tx.raw(`
    update ${changedFacts} f set now = ${classes.first} from ${movedFirsts} n where f.seq = n.seq;
    ${readOnce(`
      insert into ${changedFacts} (${columns.join()}, was, now)
      select ${columns.map((name) => `c.${name}`).join()}, n.was, n.class from ${factsAt(names, places)}
      where not exists (select from ${changedFacts} f where f.seq = n.seq)`)};
    delete from ${names('visitors')} v using ${movedFirsts} n where v.link = n.link and v.visitor = n.visitor and n.seq is null;
    insert into ${names('visitors')} (link, visitor, seq, minute)
    select link, visitor, seq, minute from ${movedFirsts} where seq is not null order by 1, 2
    on conflict (link, visitor) do update set seq = excluded.seq, minute = excluded.minute`)
  await setClasses(tx, names, places)
}

/** Gives visits other classes, and corrects everything that is counted from them. */
export const correctCounters = async (tx: Knex, names: TableNames, { position, since, changes }: Correction) => {
  await tx.raw(`${createChanged} on commit drop`)
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
    await tx.raw(
      `insert into ${names('corrections')} (seq, position, link, minute, was, now)
       select seq, ${position}, link, minute, was, now from ${changedFacts} order by seq`,
    )
    await correctSums(tx, names, position)
    await tx.raw(`drop table ${movedFirsts}`)
  }
  await tx.raw(`drop table ${changedFacts}`)
}
