import type { Knex } from 'knex'
import { isOwn, positionOf, type Visit } from './clickfacts.ts'
import { column } from '../engine/columns.ts'
import type { TableNames } from '../engine/projection.ts'
import { isRoll, type Traced } from './rolls.ts'

const hash = (destination: string) => `hashtextextended(${destination}, 0)`

/**
 * Where clicks were sent, and why: by revision of the link (or of the QR code or bio page), rule and destination. URLs
 * may be longer than an index entry, so that they are compared by a hash. `changed` is the position of the last event
 * that counted.
 *
 * `route_rolls` has the counters that a way had at a position of `rolls`, if an event had changed them since the
 * position before (`traced`). So a question about an earlier moment reads the clicks up to the next position of the
 * link, and takes them from the counters that it had there.
 */
export const routeTables = {
  link_routes: (t: string) => `
    create table ${t} (
      link bigint not null, revision int not null, clicks bigint not null, visits bigint not null, changed bigint not null,
      traced bigint not null default -1, rule text not null, destination text not null
    ) with (fillfactor = 90);
    create unique index on ${t} (link, revision, rule, ${hash('destination')})`,
  route_rolls: (t: string) => `
    create table ${t} (
      link bigint not null, revision int not null, position bigint not null, clicks bigint not null, visits bigint not null,
      rule text not null, destination text not null
    );
    create unique index on ${t} (link, revision, rule, ${hash('destination')}, position)`,
} as const

/** SQL that is true if two rows are of the same way. */
export const sameRoute = (a: string, b: string) =>
  `${a}.link = ${b}.link and ${a}.revision = ${b}.revision and ${a}.rule = ${b}.rule and ${hash(`${a}.destination`)} = ${hash(`${b}.destination`)}`

interface Route {
  readonly link: number
  readonly revision: number
  readonly rule: string
  readonly destination: string
  readonly position: bigint
  readonly clicks: number
  readonly visits: number
}
type Way = Pick<Route, 'link' | 'revision' | 'rule' | 'destination'>
type Row = Readonly<Record<'link' | 'clicks' | 'visits', string>> & Pick<Route, 'revision' | 'rule' | 'destination'>

const keyOf = ({ link, revision, rule, destination }: Way) => `${link} ${revision} ${rule} ${destination}`
const wayOf = ({ link, click, destination }: Visit): Way => ({
  link,
  revision: click.revision,
  rule: click.rule,
  destination,
})
const routeOf = (row: Row): Route => ({
  ...row,
  link: Number(row.link),
  position: 0n,
  clicks: Number(row.clicks),
  visits: Number(row.visits),
})

/** Returns a way with one more visit. */
const withVisit = (route: Route | undefined, visit: Visit): Route => ({
  ...wayOf(visit),
  position: positionOf(visit.seq),
  clicks: (route?.clicks ?? 0) + (visit.click.class === 'human' ? 1 : 0),
  visits: (route?.visits ?? 0) + 1,
})

const columnsOf = (rows: readonly Route[]) => [
  ...(['link', 'revision', 'position', 'clicks', 'visits'] as const).map((name) => column(rows, (row) => row[name])),
  rows.map(({ rule }) => rule),
  rows.map(({ destination }) => destination),
]
const given = `unnest(?::bigint[], ?::int[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[], ?::text[])
  as r (link, revision, position, clicks, visits, rule, destination)`

/** Adds to the counters, and returns what those of some links are then. */
const add = async (
  tx: Knex,
  names: TableNames,
  rows: readonly Route[],
  links: readonly number[],
): Promise<readonly Route[]> => {
  const { rows: now } = await tx.raw<{ rows: Row[] }>(
    `with added as (
       insert into ${names('link_routes')} as t (link, revision, changed, clicks, visits, rule, destination)
       select * from ${given} order by link, revision
       on conflict (link, revision, rule, ${hash('destination')}) do update set
         clicks = t.clicks + excluded.clicks, visits = t.visits + excluded.visits, changed = excluded.changed
       returning link, revision, rule, destination, clicks, visits
     )
     select * from added where link = any(?::bigint[])`,
    [...columnsOf(rows), column(links, (link) => link)],
  )
  return now.map(routeOf)
}

/** Returns the ways of some links that were counted since their last position. */
const readOpen = async (tx: Knex, names: TableNames, links: readonly number[]): Promise<readonly Route[]> => {
  if (links.length === 0) return []
  const { rows } = await tx.raw<{ rows: Row[] }>(
    `select link, revision, rule, destination, clicks, visits from ${names('link_routes')}
     where link = any(?::bigint[]) and changed > traced order by link, revision, rule, destination`,
    [column(links, (link) => link)],
  )
  return rows.map(routeOf)
}

/** Writes the counters that ways had at positions. */
const trace = async (tx: Knex, names: TableNames, rows: readonly Route[]) => {
  if (rows.length === 0) return
  await tx.raw(
    `with added as (
       insert into ${names('route_rolls')} (link, revision, position, clicks, visits, rule, destination) select * from ${given} returning *
     )
     update ${names('link_routes')} t set traced = a.position
     from (select link, revision, rule, destination, max(position) as position from added group by 1, 2, 3, 4) a where ${sameRoute('t', 'a')}`,
    columnsOf(rows),
  )
}

/** Returns the counters at the roll-ups of a link, of the ways that were counted since the one before. */
const tracesOf = (
  { steps }: Traced,
  before: ReadonlyMap<string, Route>,
  open: ReadonlySet<string>,
): readonly Route[] => {
  const counted = new Map(before)
  let changed = new Set(open)
  return steps.flatMap((step) => {
    for (const visit of step.visits.filter(isOwn)) {
      const key = keyOf(wayOf(visit))
      counted.set(key, withVisit(counted.get(key), visit))
      changed.add(key)
    }
    if (!isRoll(step)) return []
    const keys = [...changed]
    changed = new Set()
    return keys.flatMap((key) => {
      const route = counted.get(key)
      return route ? [{ ...route, position: step.position }] : []
    })
  })
}

/** Returns what visits add to the ways that they took. */
const addedBy = (visits: readonly Visit[]): ReadonlyMap<string, Route> => {
  const counts = new Map<string, { last: Visit; clicks: number; visits: number }>()
  for (const visit of visits) {
    const { link, click, destination } = visit
    const key = keyOf({ link, revision: click.revision, rule: click.rule, destination })
    const known = counts.get(key)
    const clicks = click.class === 'human' ? 1 : 0
    if (!known) {
      counts.set(key, { last: visit, clicks, visits: 1 })
      continue
    }
    known.last = visit
    known.clicks += clicks
    known.visits++
  }
  return new Map(
    [...counts].map(([key, { last, clicks, visits: n }]) => [
      key,
      { ...wayOf(last), position: positionOf(last.seq), clicks, visits: n },
    ]),
  )
}

/** Adds the clicks of a batch to the ways that they took. */
export const countRoutes = async (
  tx: Knex,
  names: TableNames,
  visits: readonly Visit[],
  traced: readonly Traced[],
): Promise<void> => {
  const links = new Set(visits.map(({ link }) => link))
  const rolled = traced.filter(({ subject, steps }) => links.has(subject) && steps.some(isRoll))
  const rolledLinks = rolled.map(({ subject }) => subject)
  const open = await readOpen(tx, names, rolledLinks)
  // where a scan led is known of its visit
  const added = addedBy(visits.filter(isOwn))
  const before = new Map(open.map((route) => [keyOf(route), route]))
  for (const route of await add(tx, names, [...added.values()], rolledLinks)) {
    const more = added.get(keyOf(route))
    const [clicks, counted] = [route.clicks - (more?.clicks ?? 0), route.visits - (more?.visits ?? 0)]
    before.set(keyOf(route), { ...route, clicks, visits: counted })
  }
  const rows = rolled.flatMap((one) => {
    const own = (route: Route) => route.link === one.subject
    const [known, changed] = [[...before].filter(([, route]) => own(route)), open.filter(own)]
    return tracesOf(one, new Map(known), new Set(changed.map(keyOf)))
  })
  await trace(tx, names, rows)
}

/**
 * Adds to the clicks of ways by an event that changes classes, after writing what they were before it. `rows` are of
 * revisions and rules: each leads to one destination.
 */
export const correctRoutes = async (
  tx: Knex,
  names: TableNames,
  { links, position }: { readonly links: readonly number[]; readonly position: bigint },
  rows: readonly Pick<Route, 'link' | 'revision' | 'rule' | 'clicks'>[],
): Promise<void> => {
  const values = [
    ...(['link', 'revision', 'clicks'] as const).map((name) => column(rows, (row) => row[name])),
    rows.map(({ rule }) => rule),
  ]
  const changes = `unnest(?::bigint[], ?::int[], ?::bigint[], ?::text[]) as n (link, revision, clicks, rule)`
  const found = `t.link = n.link and t.revision = n.revision and t.rule = n.rule`
  await tx.raw(
    `insert into ${names('route_rolls')} (link, revision, position, clicks, visits, rule, destination)
     select link, revision, ${position}, clicks, visits, rule, destination from ${names('link_routes')} t
     where link = any(?::bigint[]) and (changed > traced or exists (select from ${changes} where ${found}))`,
    [column(links, (link) => link), ...values],
  )
  await tx.raw(
    `update ${names('link_routes')} set traced = ${position} where link = any(?::bigint[]) and changed > traced`,
    [column(links, (link) => link)],
  )
  await tx.raw(
    `update ${names('link_routes')} t set clicks = t.clicks + n.clicks, changed = ${position}, traced = ${position - 1n}
     from ${changes} where ${found}`,
    values,
  )
}
