import type { Knex } from 'knex'
import type { Visit } from './clickfacts.ts'
import { column } from './columns.ts'
import type { TableNames } from './projection.ts'

/**
 * Where clicks were sent, and why: by revision of the link (or of the QR code or bio page), rule and destination. URLs may be longer than an
 * index entry, so that they are compared by a hash.
 */
export const routeTables = {
  link_routes: (t: string) => `
    create table ${t} (
      link bigint not null, revision int not null, clicks bigint not null, visits bigint not null, rule text not null, destination text not null
    ) with (fillfactor = 90);
    create unique index on ${t} (link, revision, rule, hashtextextended(destination, 0))`,
} as const

interface Route {
  readonly link: number
  readonly revision: number
  readonly rule: string
  readonly destination: string
  clicks: number
  visits: number
}

/** Adds the clicks of a batch to the ways that they took. */
export const countRoutes = async (tx: Knex, names: TableNames, visits: readonly Visit[]) => {
  const routes = new Map<string, Route>()
  for (const { link, click, destination } of visits) {
    const { revision, rule } = click
    const key = `${link} ${revision} ${rule} ${destination}`
    const route = routes.get(key) ?? { link, revision, rule, destination, clicks: 0, visits: 0 }
    routes.set(key, route)
    route.visits++
    if (click.class === 'human') route.clicks++
  }
  const rows = [...routes.values()]
  await tx.raw(
    `insert into ${names('link_routes')} as t (link, revision, clicks, visits, rule, destination)
     select * from unnest(?::bigint[], ?::int[], ?::bigint[], ?::bigint[], ?::text[], ?::text[]) as r (link, revision, clicks, visits, rule, destination)
     order by link, revision
     on conflict (link, revision, rule, hashtextextended(destination, 0)) do update set
       clicks = t.clicks + excluded.clicks, visits = t.visits + excluded.visits`,
    [
      ...(['link', 'revision', 'clicks', 'visits'] as const).map((name) => column(rows, (row) => row[name])),
      rows.map(({ rule }) => rule),
      rows.map(({ destination }) => destination),
    ],
  )
}
