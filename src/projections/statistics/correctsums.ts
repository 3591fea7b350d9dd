import type { Knex } from 'knex'
import { bioRules } from '../../events/statistics/click.ts'
import { absent, changedFacts } from './changedfacts.ts'
import { aboveViews, classes, highestAccount, isClick, unknownVisitor } from './clickfacts.ts'
import { changeEntries } from './entrystats.ts'
import { details, dimensions, dims, importedRoute, readRoute, topDimensions } from './labels.ts'
import type { TableNames } from '../engine/projection.ts'
import { correctRoutes } from './routestats.ts'
import { orAdd, plausible, quarter } from './rollup.ts'

/**
 * What events that change classes have added to roll-ups, and those that add visits of another service or take them
 * back. A question about an earlier position takes what came later from the sums of today; see
 * docs/adr/0062-corrections-are-added-up.md.
 */
export const correctedTables = {
  corrected_quarters: (t: string) => `
    create table ${t} (
      subject bigint, quarter int, position bigint, clicks int not null, uniques int not null, visits int not null, suspects int not null,
      primary key (subject, quarter, position))`,
  corrected_days: (t: string) => `
    create table ${t} (
      subject bigint, dim smallint, day int, label int, position bigint, clicks int not null, primary key (subject, dim, day, label, position))`,
} as const

const human = (value: string) => `(c.${value} <= ${classes.human})::int`
const first = (value: string) => `(c.${value} = ${classes.first})::int`
const present = (value: string) => `(c.${value} <> ${absent})::int`
const moreOf = (of: (value: string) => string) => `${of('now')} - ${of('was')}`
/** SQL of how many clicks, unique clicks and visits more there are, or less. */
const [clicks, uniques, visits] = [moreOf(human), moreOf(first), moreOf(present)]

/** SQL of the facts that roll-ups have, for each that has them: of their link, and of their account. */
const rolledFacts = (names: TableNames) => {
  const columns = `c.link, c.visitor, c.minute, ${dimensions.map((dim) => `c.${dim}`).join()}, ${clicks} as clicks, ${uniques} as uniques, ${visits} as visits`
  return `
    select c.link as subject, ${columns} from ${changedFacts} c
    join ${names('link_stats')} s on s.link = c.link where c.minute < s.rolled
    union all
    select ${highestAccount} - c.account, ${columns} from ${changedFacts} c
    join ${names('account_stats')} s on s.account = c.account where c.minute < s.rolled and c.link > ${aboveViews}`
}

const keys = ['link', 'account'] as const
/** SQL of the changed facts that count for links or accounts. */
const countedFor = (key: (typeof keys)[number]) =>
  `${changedFacts} c ${key === 'link' ? '' : `where c.link > ${aboveViews}`}`

/** Corrects the totals of links and accounts, and writes down what they were. */
const correctTotals = async (tx: Knex, names: TableNames, position: bigint) => {
  for (const key of keys) {
    const subject = key === 'link' ? 's.link' : `${highestAccount} - s.account`
    const more = ['clicks', 'uniques', 'visits', ...(key === 'link' ? ['imported'] : [])]
    const imported = `sum(case when c.route = ${importedRoute(names)} then ${clicks} else 0 end)`
    await tx.raw(
      `with sum as (
         select c.${key} as id, sum(${clicks}) as clicks, sum(${uniques}) as uniques, sum(${visits}) as visits, ${imported} as imported
         from ${countedFor(key)} group by 1
       ), before as (
         insert into ${names('rolls')} (subject, position, rolled, hi, clicks, uniques, visits, before)
         select ${subject}, ${position}, s.rolled, greatest(s.rolled, s.clock + 1), s.clicks, s.uniques, s.visits, true
         from ${names(`${key}_stats`)} s join sum on sum.id = s.${key}
       )
       update ${names(`${key}_stats`)} s set last = ${position}, ${more.map((name) => `${name} = s.${name} + sum.${name}`).join()}
       from sum where sum.id = s.${key}`,
    )
  }
}

/** Corrects the ways that clicks took, and the entries of bio pages. */
const correctWays = async (tx: Knex, names: TableNames, position: bigint) => {
  const join = `${changedFacts} c join ${names('details')} d on d.dim = ${details.route} and d.id = c.route`
  const { rows } = await tx.raw<{ rows: { link: string; label: string; clicks: string }[] }>(
    `select c.link, d.label, sum(case when c.account > 0 then ${clicks} else 0 end) as clicks from ${join} group by 1, 2 order by 1, 2`,
  )
  const sums = new Map<string, { link: number; revision: number; rule: string; clicks: number }>()
  for (const row of rows) {
    const { revision, rule } = readRoute(row.label)
    const key = `${row.link} ${revision} ${rule}`
    const before = sums.get(key)?.clicks ?? 0
    sums.set(key, { link: Number(row.link), revision, rule, clicks: before + Number(row.clicks) })
  }
  const links = [...new Set([...sums.values()].map(({ link }) => link))]
  const ways = [...sums.values()].filter((way) => way.clicks !== 0)
  await correctRoutes(tx, names, { links, position }, ways)
  const { rows: followed } = await tx.raw<{ rows: { label: string; visitor: string; clicks: string }[] }>(
    `select d.label, c.visitor, sum(${clicks}) as clicks from ${join} where split_part(d.label, ' ', 2) <> '-'
     group by 1, 2 having sum(${clicks}) <> 0 order by 1, 2`,
  )
  const changes = followed.flatMap(({ label, visitor, clicks: more }) => {
    const { bio, entry, rule } = readRoute(label)
    if (bio === null || rule === bioRules.view) return []
    return [{ bio, entry, position, visitor: BigInt(visitor), clicks: Number(more), visits: 0 }]
  })
  await changeEntries(tx, names, changes)
}

const excess = (n: string) => `greatest(${n} - ${plausible}, 0)`
const sums = ['clicks', 'uniques', 'visits', 'suspects'] as const

/**
 * Corrects the sums per quarter of an hour. How many clicks of a visitor in a minute are too many depends on all of
 * them, so the minutes with so many visits are counted again.
 */
const correctQuarters = async (tx: Knex, names: TableNames, position: bigint) => {
  type Range = { readonly first: number | null; readonly last: number | null }
  const { rows } = await tx.raw<{ rows: Range[] }>(
    `select min(minute) as first, max(minute) as last from ${changedFacts}`,
  )
  // to plan for the other partitions takes longer than to read these
  const within = `c.minute >= ${rows[0]?.first ?? 0} and c.minute <= ${rows[0]?.last ?? 0}`
  await tx.raw(
    `with fact as materialized (${rolledFacts(names)}), busy as materialized (
       select f.link, f.minute, f.visitor, count(*) filter (where f.${isClick}) as n
       from (
         select m.link, m.minute, f.visitor, f.class
         from (select distinct link, minute from ${changedFacts}) m
         cross join lateral (
           select visitor, class from ${names('clicks')} c where c.link = m.link and c.minute = m.minute and ${within}
         ) f
         union all
         select link, minute, visitor, now from ${changedFacts} where now = ${absent}
       ) f
       where f.visitor <> ${unknownVisitor} group by 1, 2, 3 having count(*) > ${plausible}
     ), suspected as (
       select c.subject, c.minute / ${quarter} as quarter, ${excess('b.n')} - ${excess('b.n - sum(c.clicks)')} as more
       from fact c join busy b using (link, minute, visitor) group by c.subject, c.minute, c.link, c.visitor, b.n
     ), change as (
       select subject, quarter, ${sums.map((name) => `sum(${name}) as ${name}`).join()} from (
         select subject, minute / ${quarter} as quarter, clicks, uniques, visits, 0 as suspects from fact
         union all
         select subject, quarter, 0, 0, 0, more from suspected
       ) c group by 1, 2 having ${sums.map((name) => `sum(${name}) <> 0`).join(' or ')}
     ), logged as (
       insert into ${names('corrected_quarters')} (subject, quarter, position, ${sums.join()})
       select subject, quarter, ${position}, ${sums.join()} from change
     )
     insert into ${names('quarters')} as t (subject, quarter, ${sums.join()}) select subject, quarter, ${sums.join()} from change
     ${orAdd('subject, quarter', sums)}`,
  )
}

/** SQL that adds to the sums of a table. There is a row only where there are clicks. */
const addLabels = (table: string, key: readonly string[], change: string) => {
  const same = key.map((name) => `t.${name} = n.${name}`).join(' and ')
  return `
    gone_${change} as (
      delete from ${table} t using ${change} n where ${same} and t.clicks + n.clicks = 0
    ), kept_${change} as (
      insert into ${table} as t (${key.join()}, clicks)
      select ${key.map((name) => `n.${name}`).join()}, n.clicks from ${change} n
      where not exists (select from ${table} t where ${same} and t.clicks + n.clicks = 0)
      ${orAdd(key.join(), ['clicks'])}
    )`
}

/** Corrects the sums by label. */
const correctLabels = async (tx: Knex, names: TableNames, position: bigint) => {
  const tops = topDimensions.map((name) => dims[name]).join()
  await tx.raw(
    `with by_day as materialized (
       select subject, day, dim, label, n as clicks from (
         select subject, minute / 1440 as day, ${dimensions.join()}, sum(clicks) as n from (${rolledFacts(names)}) c
         group by grouping sets (${dimensions.map((dim) => `(subject, minute / 1440, ${dim})`).join()})
       ) counted cross join lateral (values ${dimensions.map((dim) => `(${dims[dim]}, ${dim})`).join()}) as l (dim, label)
       where label is not null and n <> 0
     ), in_all as materialized (
       select subject, dim, label, sum(clicks) as clicks from by_day where subject > ${highestAccount} and dim in (${tops})
       group by 1, 2, 3 having sum(clicks) <> 0
     ), logged as (
       insert into ${names('corrected_days')} (subject, dim, day, label, position, clicks)
       select subject, dim, day, label, ${position}, clicks from by_day
     ),
     ${addLabels(names('days'), ['subject', 'dim', 'day', 'label'], 'by_day')},
     ${addLabels(names('tops'), ['subject', 'dim', 'label'], 'in_all')}
     select 1`,
  )
}

/** Corrects everything that is counted from facts whose classes an event has changed. */
export const correctSums = async (tx: Knex, names: TableNames, position: bigint) => {
  await correctTotals(tx, names, position)
  await correctWays(tx, names, position)
  await correctQuarters(tx, names, position)
  await correctLabels(tx, names, position)
}
