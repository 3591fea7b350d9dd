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
 * Adds the scans by which changed visits of links came: they change alike. The minutes let the planner leave out all
 * other partitions.
 */
const addScans = async (tx: Knex, names: TableNames) => {
  const { rows } = await tx.raw<{ rows: { accounts: string[]; first: number; last: number }[] }>(
    `select array_agg(distinct -account) as accounts, min(minute) as first, max(minute) as last from ${changedFacts}
     where account > 0 and link > 0 having count(*) > 0`,
  )
  for (const { accounts, first, last } of rows)
    await tx.raw(
      `insert into ${changedFacts} (${columns.join()}, was, now)
       select ${columns.map((name) => `c.${name}`).join()}, c.class, n.now
       from ${changedFacts} n join ${names('clicks')} c on c.account = -n.account and c.minute = n.minute and c.seq = n.seq + ${scanOffset}
       where c.account = any('${column(accounts, (account) => account)}'::bigint[]) and c.minute >= ${first} and c.minute <= ${last}
       on conflict do nothing;
       analyze ${changedFacts}`,
    )
}

/** Sets the classes of the changed facts. Their links and minutes let the planner leave out all others. */
const setClasses = async (tx: Knex, names: TableNames) => {
  const { rows } = await tx.raw<{ rows: { links: string[]; first: number; last: number }[] }>(
    `select array_agg(distinct link) as links, min(minute) as first, max(minute) as last from ${changedFacts}`,
  )
  for (const { links, first, last } of rows)
    await tx.raw(
      `update ${names('clicks')} c set class = n.now from ${changedFacts} n
       where c.link = n.link and c.minute = n.minute and c.seq = n.seq
         and c.link = any('${column(links, (link) => link)}'::bigint[]) and c.minute >= ${first} and c.minute <= ${last}`,
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

/** SQL of the facts that become or were the first ones, and are not among those that change anyway. */
const alsoChanged = (names: TableNames) => `
  insert into ${changedFacts} (${columns.join()}, was, now)
  select ${columns.map((name) => `c.${name}`).join()}, n.was, n.now from (
    select link, minute, seq, ${classes.human} as was, ${classes.first} as now from ${movedFirsts} where seq is not null
    union all
    select link, marked_minute, marked, ${classes.first}, ${classes.human} from ${movedFirsts} where not lost and marked is not null
  ) n join ${names('clicks')} c on c.link = n.link and c.minute = n.minute and c.seq = n.seq
  where not exists (select from ${changedFacts} f where f.seq = n.seq)`

/** Marks the earliest visit of each person as the first one, and keeps `visitors`, who have one. */
const markFirst = async (tx: Knex, names: TableNames, since: number) => {
  await tx.raw(findMoved(names, since))
  await tx.raw(`
    update ${changedFacts} f set now = ${classes.first} from ${movedFirsts} n where f.seq = n.seq;
    ${alsoChanged(names)};
    delete from ${names('visitors')} v using ${movedFirsts} n where v.link = n.link and v.visitor = n.visitor and n.seq is null;
    insert into ${names('visitors')} (link, visitor, seq, minute)
    select link, visitor, seq, minute from ${movedFirsts} where seq is not null order by 1, 2
    on conflict (link, visitor) do update set seq = excluded.seq, minute = excluded.minute`)
  // each is found by its index: a join would read all facts of the links
  await tx.raw(`
    set local enable_hashjoin = off; set local enable_mergejoin = off; set local enable_seqscan = off;
    update ${names('clicks')} c set class = ${classes.human} from ${movedFirsts} n
    where c.link = n.link and c.minute = n.marked_minute and c.seq = n.marked and not n.lost;
    update ${names('clicks')} c set class = ${classes.first} from ${movedFirsts} n
    where c.link = n.link and c.visitor = n.visitor and c.seq = n.seq and c.class = ${classes.human};
    set local enable_hashjoin = default; set local enable_mergejoin = default; set local enable_seqscan = default`)
}

/** Gives visits other classes, and corrects everything that is counted from them. */
export const correctCounters = async (tx: Knex, names: TableNames, { position, since, changes }: Correction) => {
  await tx.raw(`${createChanged} on commit drop`)
  await tx.raw(
    `insert into ${changedFacts} (${columns.join()}, was, now) select ${columns.join()}, class, target from (${changes}) c;
     analyze ${changedFacts}`,
  )
  await addScans(tx, names)
  const { rows } = await tx.raw<{ rows: { any: boolean }[] }>(`select exists (select from ${changedFacts}) as any`)
  if (rows[0]?.any) {
    await setClasses(tx, names)
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
