import type { Knex } from 'knex'
import { column } from '../engine/columns.ts'
import { unknownVisitor, type Visit } from './clickfacts.ts'

const isEarlier = (a: Visit, b: Visit) => a.minute < b.minute || (a.minute === b.minute && a.ms < b.ms)

/** Returns the earliest visit of each person on each link. */
const earliestOf = (visits: readonly Visit[]): readonly Visit[] => {
  const found = new Map<string, Visit>()
  for (const visit of visits) {
    if (visit.click.class !== 'human' || visit.visitor === unknownVisitor) continue
    const key = `${visit.link}/${visit.visitor}`
    const known = found.get(key)
    if (!known || isEarlier(visit, known)) found.set(key, visit)
  }
  return [...found.values()]
}

/** Visits that were the first of a person, and are not any more. */
export interface Displaced {
  readonly link: string
  readonly minute: number
  readonly seq: string
}

/**
 * Marks the first visits of persons: those of persons who are new, and those that were earlier than the first one that
 * is known, in whose place they are now. The first visit that is not kept one by one stays the first.
 */
export const placeFirst = (since: number) => {
  const displaced: Displaced[] = []
  const find = async (tx: Knex, table: string, visits: readonly Visit[], clicks: string) => {
    const people = earliestOf(visits)
    const given = ['link', 'visitor', 'seq', 'minute', 'ms'] as const
    const values = given.map((name) => column(people, (visit) => visit[name]))
    type Row = Displaced & { readonly marked: string | null; readonly marked_minute: number | null }
    const { rows } = await tx.raw<{ rows: Row[] }>(
      `with given as (
         select * from unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::int[], ?::smallint[]) as g (${given.join()})
       ), earlier as materialized (
         select g.*, v.seq as marked, v.minute as marked_minute from given g
         cross join lateral (select * from ${table} v where v.link = g.link and v.visitor = g.visitor offset 0) v
         cross join lateral (
           select ms from ${clicks} c where c.link = v.link and c.minute = v.minute and c.seq = v.seq offset 0
         ) c
         where v.minute >= ${since} and (g.minute, g.ms) < (v.minute, c.ms)
       ), moved as (
         update ${table} v set seq = e.seq, minute = e.minute from earlier e where v.link = e.link and v.visitor = e.visitor
       ), added as (
         insert into ${table} (link, visitor, seq, minute) select link, visitor, seq, minute from given order by 1, 2
         on conflict do nothing returning link, seq, minute
       )
       select link, seq, minute, null::bigint as marked, null::int as marked_minute from added
       union all select link, seq, minute, marked, marked_minute from earlier`,
      values,
    )
    for (const { link, marked, marked_minute: minute } of rows)
      if (marked !== null && minute !== null) displaced.push({ link, seq: marked, minute })
    const firsts = new Set(rows.map(({ seq }) => seq))
    return new Set(people.filter(({ seq }) => firsts.has(seq.toString())))
  }
  return { find, displaced }
}
