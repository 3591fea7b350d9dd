import type { Knex } from 'knex'
import { aboveViews, highestAccount, isClick, isUnique, unknownVisitor, type Visit } from './clickfacts.ts'
import { column } from '../engine/columns.ts'
import { dimensions, dims, topDimensions } from './labels.ts'
import type { TableNames } from '../engine/projection.ts'

/**
 * Visits of one link or account between two roll-ups. So many facts are read by a question at most, apart from those of
 * its last minutes.
 */
export const rollAfter = 1000
/** Clicks per minute of one visitor on one link that do not look automated. */
export const plausible = 30

/** Minutes in a quarter of an hour: the clocks of every time zone differ from UTC by whole ones. */
export const quarter = 15

/**
 * Sums of the facts of a link or an account that has enough visits: per quarter of an hour, per day and label, and per
 * label. They cover the visits of the subject before the minute `rolled`; the facts have the others.
 */
export const rollupTables = {
  quarters: (t: string) => `
    create table ${t} (
      subject bigint, quarter int, clicks int not null, uniques int not null, visits int not null, suspects int not null,
      primary key (subject, quarter)) with (fillfactor = 90)`,
  days: (t: string) =>
    `create table ${t} (subject bigint, dim smallint, day int, label int, clicks int not null, primary key (subject, dim, day, label))
     with (fillfactor = 90)`,
  tops: (t: string) =>
    `create table ${t} (subject bigint, dim smallint, label int, clicks bigint not null, primary key (subject, dim, label))
     with (fillfactor = 90)`,
} as const

/** How far a link or an account is rolled up: up to which minute, and how many visits were recorded since then. */
export interface Progress {
  readonly rolled: number | null
  readonly tail: number
}

/** Visits to add to the roll-ups of a subject: those between two minutes, recorded from a number on. */
interface Span {
  readonly subject: number
  readonly from: number
  readonly to: number
  readonly seq: bigint
  /** they come after the minutes around them were rolled up */
  readonly late: boolean
}

/** The first minute that PostgreSQL can number. */
export const earliest = -(2 ** 31)

/**
 * Returns how far a subject is rolled up after its visits, which are grouped by event: it depends on the log alone, not
 * on where the projector's batches end. The last two minutes stay out, since clicks of several spools are recorded in
 * turns; so does what the clock of a machine puts into the future.
 */
export const progressAfter = (
  before: Progress,
  events: readonly { readonly recorded: number; readonly minutes: readonly number[] }[],
): Progress => {
  let { rolled, tail } = before
  for (const { recorded, minutes } of events) {
    tail += minutes.length
    const until =
      Math.min(
        recorded,
        minutes.reduce((a, b) => Math.max(a, b)),
      ) - 1
    if (tail < rollAfter || until <= (rolled ?? earliest)) continue
    rolled = until
    tail = 0
  }
  return { rolled, tail }
}

/** The visits of a subject in a batch, and how far it was rolled up before and is after them. */
export interface Subject {
  readonly subject: number
  readonly before: Progress
  readonly after: Progress
  readonly visits: readonly Visit[]
}

const spansOf = ({ subject, before, after, visits }: Subject, seq: bigint): Span[] => {
  const from = before.rolled ?? earliest
  const late = new Set(visits.flatMap(({ minute }) => (minute < from ? [minute] : [])))
  const spans = [...late].map((minute) => ({ subject, from: minute, to: minute + 1, seq, late: true }))
  if (after.rolled === null || after.rolled === before.rolled) return spans
  return [...spans, { subject, from, to: after.rolled, seq: 0n, late: false }]
}

/** Minutes from one up to another. */
type Within = Pick<Span, 'from' | 'to'>
/**
 * SQL of the facts that the spans have, of links and of accounts: `key` is the column that has their id. `within` has
 * the minutes of all of them: to plan for the other partitions takes longer than to read these.
 */
const factsIn = (clicks: string, key: 'link' | 'account', { from, to }: Within) => `
  select s.subject, s.late, c.* from span s
  cross join lateral (
    select * from ${clicks} c
    where c.${key} = ${key === 'link' ? 's.subject' : `${highestAccount} - s.subject and c.link > ${aboveViews}`}
      and c.minute >= s.from_minute and c.minute < s.to_minute and c.seq >= s.from_seq and c.minute >= ${from} and c.minute < ${to}
  ) c
  where s.subject ${key === 'link' ? '>' : '<='} ${highestAccount}`

const excess = (n: string) => `greatest(${n} - ${plausible}, 0)`
/** Adds to rows that may exist. */
export const orAdd = (key: string, columns: readonly string[]) =>
  `on conflict (${key}) do update set ${columns.map((name) => `${name} = t.${name} + excluded.${name}`).join()}`

/**
 * One statement reads the facts and adds to all roll-ups. Of clicks that come late, only the new ones are read; how
 * many of them are too many in their minute depends on the older ones too.
 */
const roll = (names: TableNames, within: Within) => `
  with span as (
    select * from unnest(?::bigint[], ?::int[], ?::int[], ?::bigint[], ?::boolean[]) as s (subject, from_minute, to_minute, from_seq, late)
  ), chosen as materialized (
    ${factsIn(names('clicks'), 'link', within)} union all ${factsIn(names('clicks'), 'account', within)}
  ), minutes as (
    select subject, late, link, visitor, minute, count(*) as n from chosen where ${isClick} group by 1, 2, 3, 4, 5
  ), suspected as (
    select subject, minute / ${quarter} as quarter, sum(n) as n from (
      select subject, minute, n - ${plausible} as n from minutes where not late and n > ${plausible} and visitor <> ${unknownVisitor}
      union all
      select subject, minute, ${excess('f.n')} - ${excess('f.n - m.n')} from minutes m cross join lateral (
        select count(*) as n from ${names('clicks')} f
        where f.link = m.link and f.minute = m.minute and f.visitor = m.visitor and f.${isClick}
          and f.minute >= ${within.from} and f.minute < ${within.to}
      ) f where late and m.visitor <> ${unknownVisitor}
    ) n group by 1, 2
  ), labelled as materialized (
    select subject, day, dim, label, n from (
      select subject, minute / 1440 as day, ${dimensions.join()}, count(*) as n from chosen where ${isClick}
      group by grouping sets (${dimensions.map((dim) => `(subject, minute / 1440, ${dim})`).join()})
    ) counted cross join lateral (values ${dimensions.map((dim) => `(${dims[dim]}, ${dim})`).join()}) as l (dim, label)
    where label is not null
  ), in_quarters as (
    insert into ${names('quarters')} as t (subject, quarter, clicks, uniques, visits, suspects)
    select c.*, coalesce(s.n, 0) from (
      select subject, minute / ${quarter} as quarter, count(*) filter (where ${isClick}), count(*) filter (where ${isUnique}), count(*)
      from chosen group by 1, 2
    ) c left join suspected s using (subject, quarter)
    ${orAdd('subject, quarter', ['clicks', 'uniques', 'visits', 'suspects'])}
  ), in_days as (
    insert into ${names('days')} as t (subject, day, dim, label, clicks) select * from labelled
    ${orAdd('subject, dim, day, label', ['clicks'])}
  )
  insert into ${names('tops')} as t (subject, dim, label, clicks)
  select subject, dim, label, sum(n) from labelled where subject > ${highestAccount} and dim in (${topDimensions.map((dim) => dims[dim]).join()}) group by 1, 2, 3
  ${orAdd('subject, dim, label', ['clicks'])}`

/**
 * Adds to the roll-ups what the visits of a batch have made complete. The facts of the batch, from `seq` on, are stored
 * already.
 */
export const rollUp = async (tx: Knex, names: TableNames, changed: readonly Subject[], seq: bigint) => {
  const spans = changed.flatMap((subject) => spansOf(subject, seq))
  if (spans.length === 0) return
  const within = {
    from: spans.reduce((first, { from }) => Math.min(first, from), spans[0]!.from),
    to: spans.reduce((last, { to }) => Math.max(last, to), spans[0]!.to),
  }
  await tx.raw(roll(names, within), [
    column(spans, ({ subject }) => subject),
    column(spans, ({ from }) => from),
    column(spans, ({ to }) => to),
    column(spans, ({ seq: first }) => first),
    column(spans, ({ late }) => String(late)),
  ])
}
