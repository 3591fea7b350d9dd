import type { Knex } from 'knex'
import { changedFacts, columns, factsAt, readOnce, setClasses } from './changedfacts.ts'
import { classes, unknownVisitor } from './clickfacts.ts'
import { importedRoute } from './labels.ts'
import type { TableNames } from '../engine/projection.ts'

/** The persons whose first visit is another one after an event. The table exists while the event is applied. */
const movedFirsts = 'moved_firsts'

/** SQL of the visit of a person `m` that is the first one: of those that are not marked, and the one that is. */
const firstOf = (names: TableNames, since: number, imported: string | null) => {
  const own = `c.link = m.link and c.visitor = m.visitor and c.class = ${classes.human} and c.minute >= ${since}`
  const of = `select c.seq, c.minute, c.ms, ${imported === null ? 'false' : `c.route = ${imported}`} as imported from ${names('clicks')} c where`
  const candidates = [
    `${of} ${own} order by c.seq limit 1`,
    ...(imported === null ? [] : [`${of} ${own} and c.route = ${imported} order by c.minute, c.ms, c.seq limit 1`]),
    `${of} c.link = m.link and c.minute = m.marked_minute and c.seq = m.marked and not m.lost`,
  ]
  return `
    select seq, minute from (
      select *, min(seq) over () as recorded from (${candidates.map((one) => `(${one})`).join(' union all ')}) c
    ) c where imported or seq = recorded order by minute, ms, seq limit 1`
}

/**
 * Finds whose first visit is another one now: they have lost it, or have an earlier visit again. The first visit that
 * is no longer kept one by one stays the first.
 */
const findMoved = (names: TableNames, since: number, imported: string | null) => `
  create temp table ${movedFirsts} on commit drop as
  with pair as (
    select link, visitor, bool_or(was = ${classes.first}) as lost, bool_or(was > ${classes.human} and now = ${classes.human}) as gained
    from ${changedFacts} where visitor <> ${unknownVisitor} group by 1, 2
  ), mark as (
    select p.*, v.seq as marked, v.minute as marked_minute from pair p left join ${names('visitors')} v using (link, visitor)
    where p.lost or (p.gained and (v.minute is null or v.minute >= ${since}))
  )
  select m.link, m.visitor, m.lost, m.marked, m.marked_minute, n.seq, n.minute
  from mark m left join lateral (${firstOf(names, since, imported)}) n on true
  where m.lost or (n.seq is not null and n.seq is distinct from m.marked);
  analyze ${movedFirsts}`

/**
 * Marks the first visit of each person, and keeps `visitors`, who have one. It is the one that was recorded first,
 * unless another service has seen the person earlier.
 */
export const markFirst = async (tx: Knex, names: TableNames, since: number) => {
  const { rows } = await tx.raw<{ rows: { id: string | null }[] }>(`select ${importedRoute(names)} as id`)
  await tx.raw(findMoved(names, since, rows[0]?.id ?? null))
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
  await tx.raw(`drop table ${movedFirsts}`)
}
