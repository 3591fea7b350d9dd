import type { Knex } from 'knex'
import type { Recorded } from '../../events/event.ts'
import type { Event } from '../../events/index.ts'
import { column } from '../engine/columns.ts'
import type { TableNames } from '../engine/projection.ts'

export type Declared = Recorded<Event<'ClicksImported'>>

/** How many clicks each service has counted for a link. Their sum is in `link_stats`: one index sorts by all clicks. */
export const elsewhereTables = {
  counted_elsewhere: (t: string) => `
    create table ${t} (link bigint, source text, clicks bigint not null, primary key (link, source))`,
} as const

/** Keeps the newest count of each service, and adds up those of each link. */
export const countElsewhere = async (tx: Knex, names: TableNames, events: readonly Declared[]): Promise<void> => {
  if (events.length === 0) return
  const newest = [...new Map(events.map(({ data }) => [JSON.stringify([data.id, data.source]), data])).values()]
  await tx.raw(
    `insert into ${names('counted_elsewhere')} (link, source, clicks) select * from unnest(?::bigint[], ?::text[], ?::bigint[])
     on conflict (link, source) do update set clicks = excluded.clicks`,
    [column(newest, ({ id }) => id), newest.map(({ source }) => source), column(newest, ({ clicks }) => clicks)],
  )
  const links = [...new Map(newest.map(({ id, account }) => [id, account]))].toSorted(([a], [b]) => a - b)
  await tx.raw(
    `insert into ${names('link_stats')} (link, account, clicks, uniques, visits, tail, elsewhere)
     select link, account, 0, 0, 0, 0, s.clicks from unnest(?::bigint[], ?::bigint[]) as l (link, account)
     cross join lateral (select sum(clicks) as clicks from ${names('counted_elsewhere')} c where c.link = l.link) s
     on conflict (link) do update set elsewhere = excluded.elsewhere`,
    [column(links, ([link]) => link), column(links, ([, account]) => account)],
  )
}
