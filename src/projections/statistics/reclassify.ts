import type { Knex } from 'knex'
import type { Recorded } from '../../events/event.ts'
import type { Event } from '../../events/index.ts'
import { classes, classOf, minuteOf, subjects, visitorOf } from './clickfacts.ts'
import { factsAt } from './changedfacts.ts'
import { correctCounters } from './corrections.ts'
import { correctedTables } from './correctsums.ts'
import { details, dims, type Profile, readProfile } from './labels.ts'
import type { TableNames } from '../engine/projection.ts'

export const reclassificationTables = {
  /** the classes of visits before and after each event that has changed them, see `clickfacts.ts` */
  corrections: (t: string) => `
    create table ${t} (
      seq bigint, position bigint, link bigint not null, minute int not null, was smallint not null, now smallint not null,
      primary key (seq, position));
    create index on ${t} (position);
    create index on ${t} (link)`,
  /** the parts of reclassifications; `undone` is the position of the event that took one back */
  reclassifications: (t: string) => `
    create table ${t} (
      id uuid, part int, account bigint not null, position bigint not null, at timestamptz not null, rules int not null, undone bigint,
      primary key (id, part));
    create index on ${t} (account, position)`,
  ...correctedTables,
} as const

export type Reclassified = Recorded<Event<'ClicksReclassified'>>
export type Undone = Recorded<Event<'ReclassificationUndone'>>

/** What a reclassification decides by, in the numbers of the tables. */
export interface Decision {
  /** classes by `profile`, where rules change them, and which of the decision's agents each has */
  readonly changed: ReadonlyMap<number, { readonly rule: number; readonly class: number }>
  /** `profile` of excluded user agents */
  readonly profiles: readonly number[]
  readonly countries: readonly number[]
  readonly hours: readonly number[]
  readonly visitors: readonly bigint[]
}
/** Which facts: those of the subjects, of the minutes from one up to another. */
export interface Scope {
  /** undefined: all of the account */
  readonly subjects: readonly number[] | undefined
  readonly account: number
  readonly from: number
  readonly to: number
}

const array = (type: string, values: readonly (number | bigint)[]) => `'{${values.join()}}'::${type}[]`
const within = ({ subjects: only, account, from, to }: Scope) =>
  `c.account = ${account} and c.minute >= ${from} and c.minute < ${to}${only ? ` and c.link = any(${array('bigint', only)})` : ''}`

/** SQL of the class of a visit without the mark of a first one. */
const plain = (of: string) => `greatest(${of}.class, ${classes.human})`
export const plainClass = plain('c')

/**
 * SQL of the facts in a scope, as `c`, with their `target`, the class that a decision gives them, and the `rule` where
 * it changes the class of their profile.
 */
export const decided = (names: TableNames, scope: Scope, decision: Decision) => {
  const changed = [...decision.changed]
  const ids = changed.map(([profile]) => profile)
  const values = changed.map(([, by]) => by.class)
  const rules = changed.map(([, by]) => by.rule)
  const ruled = `case when c.recorded = ${classes.prefetch} then c.recorded else coalesce(r.class, c.recorded) end`
  const { profiles, countries, hours, visitors } = decision
  const excluded = [
    ...(profiles.length > 0 ? [`c.profile = any(${array('int', profiles)})`] : []),
    ...(countries.length > 0 ? [`c.country = any(${array('smallint', countries)})`] : []),
    ...(hours.length > 0 ? [`mod(mod(c.minute, 1440) + 1440, 1440) / 60 = any(${array('int', hours)})`] : []),
    ...(visitors.length > 0 ? [`c.visitor = any(${array('bigint', visitors)})`] : []),
  ]
  const isExcluded = excluded.length === 0 ? 'false' : `(${excluded.join(' or ')})`
  return `
    select c.*, r.rule, (case when ${ruled} = ${classes.human} and ${isExcluded} then ${classes.excluded} else ${ruled} end)::smallint as target
    from ${names('clicks')} c
    left join unnest(${array('int', ids)}, ${array('smallint', values)}, ${array('int', rules)})
      as r (profile, class, rule) on r.profile = c.profile
    where ${within(scope)}`
}

/** profiles that are looked up at a time: visitors make them up, and others are answered between two of these */
const profilesAtATime = 1000

/** A profile of facts in a scope. */
export interface Found {
  readonly id: number
  readonly profile: Profile
  /** a class that it was recorded with: it comes once for each of them */
  readonly recorded: number
}

/** Goes through the profiles of the facts in a scope. */
export const profilesIn = async function* (tx: Knex, names: TableNames, scope: Scope): AsyncGenerator<Found> {
  // one text is read faster than as many rows
  const { rows } = await tx.raw<{ rows: { found: string | null }[] }>(
    `select string_agg(profile || ':' || recorded, ',' order by profile, recorded) as found
     from (select distinct profile, recorded from ${names('clicks')} c where ${within(scope)}) f`,
  )
  const pairs = rows[0]?.found?.split(',') ?? []
  for (let from = 0; from < pairs.length; from += profilesAtATime) {
    const some = pairs.slice(from, from + profilesAtATime).map((pair) => pair.split(':').map(Number))
    const { rows: labels } = await tx.raw<{ rows: { id: number; label: string }[] }>(
      `select id, label from ${names('details')} where dim = ${details.profile} and id = any(?::int[])`,
      [some.map(([id = 0]) => id)],
    )
    const labelOf = new Map(labels.map(({ id, label }) => [id, label]))
    for (const [id = 0, recorded = 0] of some) {
      const label = labelOf.get(id)
      if (label !== undefined) yield { id, profile: readProfile(label), recorded }
    }
  }
}

/** Returns the key that distinguishes user agents of one class. */
export const agentKey = ({ agent, bot, rules }: Pick<Profile, 'agent' | 'bot' | 'rules'>) =>
  JSON.stringify([agent, bot, rules])
type Rules = Pick<Reclassified['data'], 'agents' | 'exclusions'>

/** Returns a decision in the numbers of the tables, about the facts in a scope. */
export const decisionOf = async (
  tx: Knex,
  names: TableNames,
  scope: Scope,
  { agents, exclusions }: Rules,
): Promise<Decision> => {
  const ruled = new Map(agents.map((one, rule) => [agentKey(one), { rule, class: classOf(one) }]))
  const { rows } = await tx.raw<{ rows: { id: number }[] }>(
    `select id from ${names('labels')} where dim = ${dims.country} and label = any(?::text[])`,
    [[...exclusions.countries]],
  )
  const changed = new Map<number, { readonly rule: number; readonly class: number }>()
  const profiles = new Set<number>()
  for await (const { id, profile } of profilesIn(tx, names, scope)) {
    const by = ruled.get(agentKey(profile))
    if (by) changed.set(id, by)
    const agent = profile.agent.toLowerCase()
    if (exclusions.agents.some((part) => agent.includes(part))) profiles.add(id)
  }
  return {
    changed,
    profiles: [...profiles],
    countries: rows.map(({ id }) => id),
    hours: exclusions.hours,
    visitors: exclusions.visitors.map(visitorOf),
  }
}

const scopeOf = ({ account, link, qr, bio, view, from, to }: Reclassified['data']): Scope => ({
  account,
  subjects: [...link.map(subjects.link), ...qr.map(subjects.qr), ...bio.map(subjects.bio), ...view.map(subjects.view)],
  from: minuteOf(from),
  to: minuteOf(to),
})

/** Returns SQL of the facts that a part changes, with their `target`. */
const changesOf = async (tx: Knex, names: TableNames, { data }: Reclassified): Promise<string> => {
  const scope = scopeOf(data)
  const decision = await decisionOf(tx, names, scope, data)
  return `select * from (${decided(names, scope, decision)}) d where target <> ${plain('d')}`
}

/**
 * Returns SQL of what takes a part back: visits that no later event has changed get the class from before
 * it.
 */
const changesBack = (names: TableNames, { data }: Undone): string => {
  const corrections = `
    select k.* from ${names('corrections')} k where k.minute >= ${minuteOf(data.since)} and k.position = (
      select position from ${names('reclassifications')}
      where id = '${data.reclassification}' and part = ${data.part} and undone is null)`
  return `
    select c.*, greatest(n.was, ${classes.human}) as target from ${factsAt(names, corrections)}
    where greatest(n.was, ${classes.human}) <> greatest(n.now, ${classes.human}) and ${plainClass} = greatest(n.now, ${classes.human})`
}

/** Applies a part of a reclassification, or takes one back. */
export const reclassify = (db: Knex, names: TableNames, event: Reclassified | Undone) =>
  // a savepoint within the projector's transaction
  db.transaction(async (tx) => {
    const { position, at } = event
    const from = { position, since: minuteOf(event.data.since) }
    if (event.type === 'ClicksReclassified') {
      const { reclassification, part, account, rules } = event.data
      await correctCounters(tx, names, { ...from, changes: await changesOf(tx, names, event) })
      await tx.raw(
        `insert into ${names('reclassifications')} (id, part, account, position, at, rules) values (?, ?, ?, ?, ?, ?)
         on conflict do nothing`,
        [reclassification, part, account, position.toString(), at, rules],
      )
      return
    }
    await correctCounters(tx, names, { ...from, changes: changesBack(names, event) })
    await tx.raw(`update ${names('reclassifications')} set undone = ? where id = ? and part = ? and undone is null`, [
      position.toString(),
      event.data.reclassification,
      event.data.part,
    ])
  })
