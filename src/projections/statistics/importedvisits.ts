import type { Knex } from 'knex'
import {
  absent,
  changedFacts,
  columns,
  createChanged,
  factsAt,
  noteCorrections,
  readOnce,
  setClasses,
} from './changedfacts.ts'
import {
  classes,
  classOf,
  type Ids,
  idsIn,
  type Imported,
  insertFacts,
  minuteOf,
  subjects,
  type Visit,
  visitsOf,
} from './clickfacts.ts'
import { column } from '../engine/columns.ts'
import { correctSums } from './correctsums.ts'
import { detailOf, details, dimensions, labelIds } from './labels.ts'
import { type Displaced, placeFirst } from './placefirst.ts'
import type { TableNames } from '../engine/projection.ts'
import { earliest, type Progress, rollAfter, rollUp } from './rollup.ts'

/**
 * The events with visits of other services: their positions, the minutes that they have visits of, and the position of
 * the event that took them back. `since` is the first minute whose visits were kept one by one then.
 */
export const importedTables = {
  visit_imports: (t: string) => `
    create table ${t} (
      position bigint primary key, import uuid not null, revision bigint not null, account bigint not null,
      first int not null, last int not null, since int, gone bigint);
    create unique index on ${t} (import, revision);
    create index on ${t} (greatest(position, gone))`,
} as const

/** What is known of a link or account before an event, and what the event adds. */
interface Counted extends Progress {
  readonly subject: number
  readonly id: number
  readonly minutes: readonly number[]
}

/**
 * Returns up to which minute a link or account is rolled up before visits of another service are added to it: it
 * depends on the log alone. They mostly come in the order of their times, so that it is their first one; else what was
 * recorded so far has to do. What is before that minute is added to the roll-ups, and to what later events have added
 * to them: so visits that may not be kept one by one any more are.
 */
const progressBefore = (
  { rolled, tail, minutes }: Counted,
  { recorded, since }: { readonly recorded: number; readonly since: number },
): Progress => {
  const known = rolled ?? earliest
  const first = minutes.reduce((a, b) => Math.min(a, b))
  const all = tail + minutes.length
  const isDue = all >= rollAfter
  const inOrder = isDue ? first - 1 : earliest
  const outOfOrder = isDue && inOrder <= known && all >= 5 * rollAfter ? recorded - 1 : earliest
  const until = Math.max(inOrder, outOfOrder, first < since ? since : earliest)
  if (until <= known) return { rolled, tail: all }
  return { rolled: until, tail: minutes.filter((minute) => minute >= until).length }
}

/** Rolls up the links or accounts of an event as far as they have to be, without its visits. */
const rollBefore = async (
  tx: Knex,
  names: TableNames,
  key: 'link' | 'account',
  { visits, recorded, since }: { readonly visits: readonly Visit[]; readonly recorded: number; readonly since: number },
) => {
  const table = names(`${key}_stats`)
  const minutes = new Map<number, number[]>()
  for (const visit of visits) minutes.set(visit[key], [...(minutes.get(visit[key]) ?? []), visit.minute])
  const ids = [...minutes.keys()].toSorted((a, b) => a - b)
  const account = key === 'link' ? 'account, ' : ''
  await tx.raw(
    `insert into ${table} (${key}, ${account}clicks, uniques, visits, tail)
     select id, ${key === 'link' ? `${visits[0]!.account}, ` : ''}0, 0, 0, 0 from unnest(?::bigint[]) as i (id) on conflict do nothing`,
    [column(ids, (id) => id)],
  )
  const { rows } = await tx.raw<{ rows: (Progress & { readonly id: string })[] }>(
    `select ${key} as id, rolled, tail from ${table} where ${key} = any(?::bigint[]) order by 1`,
    [column(ids, (id) => id)],
  )
  const all = rows.map((row) => {
    const id = Number(row.id)
    const before = { rolled: row.rolled, tail: row.tail }
    const subject = key === 'link' ? id : subjects.account(id)
    const after = progressBefore({ ...before, id, subject, minutes: minutes.get(id)! }, { recorded, since })
    return { id, subject, before, after, visits: [] }
  })
  await rollUp(tx, names, all, 0n)
  await tx.raw(
    `update ${table} s set rolled = r.rolled, tail = r.tail, clock = greatest(s.clock, ${recorded})
     from unnest(?::bigint[], ?::int[], ?::int[]) as r (id, rolled, tail) where s.${key} = r.id`,
    [
      column(all, ({ id }) => id),
      column(all, ({ after }) => after.rolled ?? 'null'),
      column(all, ({ after }) => after.tail),
    ],
  )
}

/** SQL of places of facts. */
const placesOf = (
  places: readonly { readonly link: number | string; readonly minute: number; readonly seq: bigint | string }[],
) =>
  `select * from unnest('${column(places, ({ link }) => link)}'::bigint[], '${column(places, ({ minute }) => minute)}'::int[],
    '${column(places, ({ seq }) => seq)}'::bigint[]) as p (link, minute, seq)`

interface Changed {
  readonly ids: Ids
  readonly visits: readonly Visit[]
  readonly uniques: ReadonlySet<Visit>
  readonly displaced: readonly Displaced[]
  readonly position: bigint
}

/** Writes down what an event changes: its visits are new, and others are not the first of a person any more. */
const noteChanged = async (tx: Knex, names: TableNames, { ids, visits, uniques, displaced, position }: Changed) => {
  const into = `insert into ${changedFacts} (${columns.join()}, was, now)`
  await tx.raw(createChanged)
  const idOf = idsIn(ids)
  const values = [
    ...(['seq', 'visitor', 'link', 'account', 'minute'] as const).map((name) => column(visits, (visit) => visit[name])),
    column(visits, (visit) => ids.details(details.route, detailOf.route(visit))),
    ...dimensions.map((dim) => column(visits, idOf(dim))),
    column(visits, () => absent),
    column(visits, (visit) => (uniques.has(visit) ? classes.first : classOf(visit.click))),
  ]
  await tx.raw(
    `${into} select * from unnest(${values.map((_, n) => (n < 4 ? '?::bigint[]' : '?::int[]')).join()})`,
    values,
  )
  if (displaced.length > 0) {
    const places = placesOf(displaced)
    const facts = `select ${columns.map((name) => `c.${name}`).join()}, ${classes.first}, ${classes.human} from ${factsAt(names, places)}`
    await tx.raw(readOnce(`${into} ${facts}`))
    await setClasses(tx, names, `select *, ${classes.human} as class from (${places}) p`)
  }
  await tx.raw(`analyze ${changedFacts}`)
  await noteCorrections(tx, names, position)
}

const write = async (tx: Knex, names: TableNames, event: Imported) => {
  const { position, revision, data, metadata } = event
  const visits = visitsOf(event)
  const [recorded, since] = [minuteOf(metadata.at), data.since === undefined ? earliest : minuteOf(data.since)]
  for (const key of ['link', 'account'] as const) await rollBefore(tx, names, key, { visits, recorded, since })
  const ids = {
    labels: await labelIds(tx, names, 'labels', visits),
    details: await labelIds(tx, names, 'details', visits),
  }
  const { find, displaced } = placeFirst(since)
  const uniques = await insertFacts(tx, names, ids, visits, (db, table, of) => find(db, table, of, names('clicks')))
  await noteChanged(tx, names, { ids, visits, uniques, displaced, position })
  await correctSums(tx, names, position)
  await tx.raw(`drop table ${changedFacts}`)
  const minutes = visits.map(({ minute }) => minute)
  await tx.raw(
    `insert into ${names('visit_imports')} (position, import, revision, account, first, last, since) values (?, ?, ?, ?, ?, ?, ?)`,
    [
      position.toString(),
      data.import,
      revision.toString(),
      data.account,
      minutes.reduce((a, b) => Math.min(a, b)),
      minutes.reduce((a, b) => Math.max(a, b)),
      data.since === undefined ? null : since,
    ],
  )
}

/**
 * Adds visits of another service, event by event: they are earlier than what the tables have, and a question about a
 * time before the event must not know them. So they are a correction, from nothing to what they are.
 */
export const addImported = (db: Knex, names: TableNames, event: Imported): Promise<void> =>
  // a savepoint within the projector's transaction
  db.transaction((tx) => write(tx, names, event))
