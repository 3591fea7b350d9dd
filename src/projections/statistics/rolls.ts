import type { Knex } from 'knex'
import { aboveViews, factColumns, highestAccount, isClick, isUnique, type Visit } from './clickfacts.ts'
import { column } from '../engine/columns.ts'
import type { TableNames } from '../engine/projection.ts'
import { earliest } from './rollup.ts'

/** The setting of a transaction that says up to which position of the log its views count clicks. */
export const clicksPosition = 'linkledger.clicks'
const at = `current_setting('${clicksPosition}')::bigint`
const [lastMinute, lastSeq] = [2 ** 31 - 1, (2n ** 63n - 1n).toString()]
/** SQL of the first number of a visit after a position. */
const seqAfter = (position: string) => `(${position} + 1) * 1000`

/**
 * SQL of the counters of links or accounts as they were at the position of the transaction. Of what came after, only
 * the visits up to the next roll-up are counted, and taken from the counters that it had. Where they are: from the
 * minute on up to which the subject was rolled up, or at the minutes of strays. `rolled` is that minute, and no visit
 * up to the position has a later minute than `hi`, apart from strays.
 */
const countersAt = (names: TableNames, key: 'link' | 'account') => {
  const subject = key === 'link' ? 's.link' : `${highestAccount} - s.account`
  const own = key === 'link' ? 'c.link = s.link' : `c.account = s.account and c.link > ${aboveViews}`
  const later = `c.seq >= ${seqAfter(at)} and c.seq < coalesce((n.position + (not n.before)::int) * 1000, ${lastSeq})`
  const rolled =
    key === 'link'
      ? 'case when r.rolled is not null then greatest(r.rolled, h.minute) end'
      : 'greatest(r.rolled, case when s.rolled is not null then h.minute end)'
  // the class that a visit had when the counters were written
  const classAt = `coalesce((select k.was from ${names('corrections')} k where k.seq = c.seq and k.position >= n.position order by k.position limit 1), c.class)`
  const columns = ['clicks', 'uniques', 'visits']
  return `
    select s.${key}${key === 'link' ? ', s.account, s.imported' : ''}, ${columns.map((name) => `coalesce(n.${name}, s.${name}) - x.${name} as ${name}`).join()},
      l.rolled, ${key === 'link' ? 's.since' : 'null::int'} as since, n.hi
    from ${names(`${key}_stats`)} s
    left join lateral (select * from ${names('rolls')} where subject = ${subject} and position > ${at} order by position, before desc limit 1) n
      on s.last > ${at}
    left join lateral (select * from ${names('rolls')} where subject = ${subject} and position <= ${at} and rolled is not null
      order by position desc limit 1) r
      on true
    cross join (select max(minute) as minute from ${names('click_horizon')}) h
    cross join lateral (select ${rolled} as rolled) l
    cross join lateral (
      select count(*) filter (where ${isClick}) as clicks, count(*) filter (where ${isUnique}) as uniques, count(*) as visits from (
        select ${classAt} as class from ${names('clicks')} c
        where s.last > ${at} and ${own} and c.minute >= coalesce(l.rolled, ${earliest}) and c.minute <= coalesce(n.hi, ${lastMinute}) and ${later}
        union all
        select ${classAt} from (
          select distinct minute from ${names('strays')} t
          where s.last > ${at} and t.subject = ${subject} and (t.minute < l.rolled and t.position > ${at} or t.minute > n.hi)
        ) m join ${names('clicks')} c on c.minute = m.minute where ${own} and ${later}
      ) c
    ) x`
}

const entriesAt = (names: TableNames) => `
  select s.bio, s.entry, ${['clicks', 'uniques', 'visits'].map((name) => `s.${name} - x.${name} as ${name}`).join()}
  from ${names('entry_stats')} s cross join lateral (
    select ${['clicks', 'uniques', 'visits'].map((name) => `coalesce(sum(${name}), 0)::bigint as ${name}`).join()}
    from ${names('entry_log')} l where l.bio = s.bio and l.entry = s.entry and l.position > ${at}
  ) x`

/** Tables that have a view which shows them as they were, or what they had then. */
export const viewedTables: readonly string[] = ['link_stats', 'account_stats', 'entry_stats', 'clicks']

/** SQL of the visits that are there or were taken back later. Those that came later are in it, too. */
const visitsAt = (names: TableNames) => {
  const columns = factColumns.join()
  return `
    select ${columns} from ${names('clicks')} union all
    select ${columns} from ${names('withdrawn_visits')} where gone > ${at}`
}

const viewsOf = (names: TableNames) => `
  create view ${names('clicks')}_at as ${visitsAt(names)};
  create view ${names('link_stats')}_at as ${countersAt(names, 'link')};
  create view ${names('account_stats')}_at as ${countersAt(names, 'account')};
  create view ${names('entry_stats')}_at as ${entriesAt(names)}`

/**
 * What was known when: `rolls` has the counters of a link or account at each of its roll-ups, and before each event
 * that changes classes of its visits, or adds some of another service or takes them back, and `rolled`. `strays` has
 * the minutes of visits that came when they were rolled up already, or are later than the clock of the log: by the
 * event, and once more by a roll-up before which they came. No other visit up to a roll-up is later than its `hi`. By
 * these, statistics of an earlier position are exact, and read few facts. The views have to be made last.
 */
export const rollTables = {
  rolls: (t: string) => `
    create table ${t} (
      subject bigint, position bigint, rolled int, hi int not null, clicks bigint not null, uniques bigint not null, visits bigint not null,
      before boolean not null default false, primary key (subject, position, before))`,
  strays: (t: string) => `
    create table ${t} (subject bigint, position bigint, minute int, primary key (subject, position, minute));
    ${viewsOf((table) => t.replace('strays_', `${table}_`))}`,
} as const

/** The visits of an event, and how far their link or account was rolled up before and after it. */
export interface Step {
  readonly position: bigint
  /** the minute in which the log has recorded it */
  readonly recorded: number
  readonly visits: readonly Visit[]
  readonly before: number | null
  readonly after: number | null
}
/** Whether a link or account was rolled up after an event. */
export const isRoll = ({ before, after }: Step) => after !== null && after !== before
/** What is counted of a link or account. */
export interface Totals {
  readonly clicks: number
  readonly uniques: number
  readonly visits: number
}
/** A link or account with the events of a batch. */
export interface Traced {
  readonly subject: number
  /** before the batch */
  readonly totals: Totals
  /** the latest minute in which an event up to this batch was recorded */
  readonly clock: number
  readonly steps: readonly Step[]
}

interface Roll extends Totals {
  readonly subject: number
  readonly position: bigint
  readonly rolled: number
  readonly hi: number
  /** an event before it may have been recorded later, by another clock */
  readonly doubtful: boolean
}

/** Returns the counters at each roll-up of a batch. */
export const rollsOf = ({ subject, totals, clock, steps }: Traced, uniques: ReadonlySet<Visit>): readonly Roll[] => {
  let { clicks, uniques: firsts, visits } = totals
  return steps.flatMap((step) => {
    for (const visit of step.visits) {
      visits++
      if (visit.click.class === 'human') clicks++
      if (uniques.has(visit)) firsts++
    }
    const { position, recorded, before, after: rolled } = step
    const hi = Math.max(rolled ?? 0, recorded + 1)
    return rolled === null || rolled === before
      ? []
      : [{ subject, position, rolled, hi, clicks, uniques: firsts, visits, doubtful: recorded < clock }]
  })
}

const straysOf = ({ subject, steps }: Traced) =>
  steps.flatMap(({ position, recorded, visits, before }) => {
    const strays = visits.flatMap(({ minute }) =>
      (before !== null && minute < before) || minute > recorded + 1 ? [minute] : [],
    )
    return [...new Set(strays)].map((minute) => ({ subject, position, minute }))
  })

/** Writes down what a later question about this moment needs. The facts of the batch are stored already. */
export const traceRolls = async (
  tx: Knex,
  names: TableNames,
  traced: readonly Traced[],
  uniques: ReadonlySet<Visit>,
): Promise<void> => {
  const strays = traced.flatMap(straysOf)
  if (strays.length > 0)
    await tx.raw(
      `insert into ${names('strays')} (subject, position, minute) select * from unnest(?::bigint[], ?::bigint[], ?::int[])`,
      (['subject', 'position', 'minute'] as const).map((name) => column(strays, (stray) => stray[name])),
    )
  const rolls = traced.flatMap((one) => rollsOf(one, uniques))
  if (rolls.length === 0) return
  await tx.raw(
    `insert into ${names('rolls')} (subject, position, rolled, hi, clicks, uniques, visits)
     select * from unnest(?::bigint[], ?::bigint[], ?::int[], ?::int[], ?::bigint[], ?::bigint[], ?::bigint[])`,
    (['subject', 'position', 'rolled', 'hi', 'clicks', 'uniques', 'visits'] as const).map((name) =>
      column(rolls, (roll) => roll[name]),
    ),
  )
  await addMissed(
    tx,
    names,
    rolls.filter(({ doubtful }) => doubtful),
  )
}

/**
 * Adds the visits to the strays that are later than a roll-up and were none when they were recorded: a clock has gone
 * back.
 */
const addMissed = async (tx: Knex, names: TableNames, rolls: readonly Roll[]) => {
  if (rolls.length === 0) return
  const later = (own: string) =>
    `select distinct c.minute from ${names('clicks')} c where ${own} and c.minute > r.hi and c.seq < ${seqAfter('r.position')} offset 0`
  await tx.raw(
    `with r as (select * from unnest(?::bigint[], ?::bigint[], ?::int[]) as r (subject, position, hi)), missed as (
       select r.*, m.minute from r cross join lateral (${later('c.link = r.subject')}) m where r.subject > ${highestAccount}
       union all
       select r.*, m.minute from r cross join lateral (
         ${later(`c.account = ${highestAccount} - r.subject and c.link > ${aboveViews}`)}
       ) m where r.subject <= ${highestAccount}
     )
     insert into ${names('strays')} (subject, position, minute)
     select subject, min(position), minute from missed m
     where not exists (select from ${names('strays')} s where s.subject = m.subject and s.minute = m.minute) group by subject, minute`,
    (['subject', 'position', 'hi'] as const).map((name) => column(rolls, (roll) => roll[name])),
  )
}
