import type { Event } from '../../events/index.ts'
import type { Exclusions } from '../../events/statistics/exclusions.ts'
import { classes, minuteMs, minuteOf, subjects, visited } from '../../projections/statistics/clickfacts.ts'
import {
  agentKey,
  decided,
  type Decision,
  decisionOf,
  plainClass,
  profilesIn,
  type Scope,
} from '../../projections/statistics/reclassify.ts'
import { clicksKeptSince } from './recorded.ts'
import type { Reader } from '../reader.ts'

/** The rules that classify clicks. */
export interface Rules {
  readonly version: number
  /** Returns the class by these rules of a click that older rules have given a class, and what decides. */
  readonly decide: (click: { readonly agent: string; readonly bot: string | null; readonly class: string }) => {
    readonly class: string
    readonly rule: string
  }
}
export interface Wanted {
  readonly account: number
  /** only clicks of this link */
  readonly link?: number | undefined
  readonly exclusions: Exclusions
  /** visits that one event changes, about: new clicks wait while it is applied */
  readonly perPart?: number
}
/** A class of visits; `other` is one that only a newer release knows. */
type ClassName = Exclude<keyof typeof classes, 'first'> | 'other'
/** How many visits change from a class to another, by a rule. */
export interface ClassChange {
  readonly from: ClassName
  readonly to: ClassName
  /**
   * what decides by its name or word: that of a rule for user agents, or `exclusions`; `recorded` where an earlier
   * reclassification no longer holds
   */
  readonly rule: string
  readonly visits: number
}
type Part = Omit<Event<'ClicksReclassified'>['data'], 'reclassification' | 'part'>
export interface Plan {
  readonly changes: readonly ClassChange[]
  /** what the events have, in the order of their parts */
  readonly parts: readonly Part[]
}

const resourcesPerPart = 500
/** user agents in one event: about 200 KB */
const mostAgents = 1000
const [earliest, latest] = [new Date(0).toISOString(), new Date(Date.UTC(2100, 0)).toISOString()]

const classNames = (Object.keys(classes) as (keyof typeof classes)[]).filter((name) => name !== 'first')
const className = (value: number): ClassName => classNames.find((name) => classes[name] === value) ?? 'other'

type RuledAgent = Part['agents'][number] & { readonly rule: string }

/**
 * Returns the user agents whose class the rules change, each with the rule. Those of the same version have decided
 * already. The rest waits for the next time: an event is bounded.
 */
const agentsBy = async ({ version, decide }: Rules, { db, table }: Reader, scope: Scope) => {
  const found = new Map<string, RuledAgent>()
  for await (const { profile, recorded } of profilesIn(db, table, scope)) {
    const { agent, bot, rules } = profile
    const before = className(recorded)
    if (rules === version || before === 'prefetch' || before === 'other') continue
    const { class: after, rule } = decide({ agent, bot, class: before })
    const key = agentKey(profile)
    if (after === before || (found.size >= mostAgents && !found.has(key))) continue
    found.set(key, { agent, bot, rules, class: after, rule })
  }
  return [...found.values()]
}

/** Returns what names the rule that gives visits a class. */
const ruleOf = (by: RuledAgent | undefined, from: ClassName, to: ClassName): string => {
  if (to === 'excluded' || (from === 'excluded' && to === 'human')) return 'exclusions'
  return by?.class === to ? by.rule : 'recorded'
}

interface LinkVisits {
  readonly link: number
  readonly visits: number
}

/** Returns how many visits change of each link, and from which class to which by which rule. */
const countChanges = async ({ db, table }: Reader, scope: Scope, decision: Decision, agents: readonly RuledAgent[]) => {
  const { rows } = await db.raw<{
    rows: { link: string; was: number; target: number; rule: number | null; n: string }[]
  }>(
    `select link, ${plainClass} as was, target, rule, count(*) as n from (${decided(table, scope, decision)}) c
     where target <> ${plainClass} group by 1, 2, 3, 4 order by 1, 2, 3, 4`,
  )
  const changes = new Map<string, ClassChange>()
  const links = new Map<number, number>()
  for (const { link, was, target, rule: by, n } of rows) {
    const [from, to, visits] = [className(was), className(target), Number(n)]
    const rule = ruleOf(by === null ? undefined : agents[by], from, to)
    const key = `${from} ${to} ${rule}`
    changes.set(key, { from, to, rule, visits: visits + (changes.get(key)?.visits ?? 0) })
    links.set(Number(link), visits + (links.get(Number(link)) ?? 0))
  }
  const mostFirst = [...changes.values()].toSorted((a, b) => b.visits - a.visits)
  return { changes: mostFirst, links: [...links].map(([link, visits]): LinkVisits => ({ link, visits })) }
}

/** The resources and the minutes of one part. */
interface Slice {
  readonly links: readonly number[]
  readonly from: string
  readonly to: string
}

/** Visits that change, of so many minutes from one on. */
interface Span {
  readonly minute: number
  readonly n: number
  readonly gained: number
}

/** Returns the visits of a scope that change, by hours, or by minutes. */
const readSpans = async ({ db, table }: Reader, scope: Scope, decision: Decision, minutes: 60 | 1) => {
  const { rows } = await db.raw<{ rows: { minute: number; n: string; gained: string }[] }>(
    `select (floor(minute / ${minutes}.0) * ${minutes})::int as minute, count(*) as n,
       count(*) filter (where target = ${classes.human}) as gained
     from (${decided(table, scope, decision)}) c where target <> ${plainClass} group by 1 order by 1`,
  )
  return rows.map(({ minute, n, gained }): Span => ({ minute, n: Number(n), gained: Number(gained) }))
}

/**
 * Splits the time of one resource whose visits are too many for a part. A minute stays together: an event says which
 * minutes it changes. Where most visits lose a person, the newest come first, otherwise the oldest: so that the first
 * visit of a person does not move from part to part. Undo takes the parts in reverse order.
 */
const splitTime = async (
  reader: Reader,
  scope: Scope,
  decision: Decision,
  perPart: number,
): Promise<readonly Slice[]> => {
  const spans: Span[] = []
  for (const hour of await readSpans(reader, scope, decision, 60)) {
    const own = { ...scope, from: Math.max(scope.from, hour.minute), to: Math.min(scope.to, hour.minute + 60) }
    spans.push(...(hour.n > perPart ? await readSpans(reader, own, decision, 1) : [hour]))
  }
  const momentOf = (minute: number) => new Date(minute * minuteMs).toISOString()
  const starts: number[] = []
  let count = 0
  for (const { minute, n } of spans) {
    const isNew = starts.length === 0 || count + n > perPart
    if (isNew) starts.push(minute)
    count = isNew ? n : count + n
  }
  const links = scope.subjects ?? []
  const slices = starts.map((minute, i) => ({
    links,
    from: momentOf(i === 0 ? scope.from : minute),
    to: starts[i + 1] === undefined ? latest : momentOf(starts[i + 1]!),
  }))
  const total = (column: 'n' | 'gained') => spans.reduce((sum, span) => sum + span[column], 0)
  return total('gained') * 2 > total('n') ? slices : slices.toReversed()
}

/** Returns the parts of all changes: many resources with few visits each, or a part of the time of one with many. */
const slicesOf = async (
  reader: Reader,
  scope: Scope,
  decision: Decision,
  { links: found, perPart }: { readonly links: readonly LinkVisits[]; readonly perPart: number },
) => {
  const from = new Date(scope.from * minuteMs).toISOString()
  const slices: Slice[] = []
  let [links, count] = [[] as number[], 0]
  const flush = () => {
    if (links.length > 0) slices.push({ links, from, to: latest })
    ;[links, count] = [[], 0]
  }
  for (const { link, visits } of found) {
    if (visits > perPart) {
      slices.push(...(await splitTime(reader, { ...scope, subjects: [link] }, decision, perPart)))
      continue
    }
    if (count + visits > perPart || links.length >= resourcesPerPart) flush()
    links.push(link)
    count += visits
  }
  flush()
  return slices
}

const resources = (links: readonly number[]) => {
  const all = links.map(visited)
  const idsOf = (kind: ReturnType<typeof visited>['of']) => all.flatMap(({ of, id }) => (of === kind ? [id] : []))
  return { link: idsOf('link'), qr: idsOf('qr'), bio: idsOf('bio'), view: idsOf('view') }
}

/** Returns what some rules and exclusions would change of the clicks that are kept one by one. It changes nothing. */
export const planReclassification = async (reader: Reader, rules: Rules, wanted: Wanted): Promise<Plan> => {
  const { account, link, exclusions, perPart = 10_000 } = wanted
  const kept = await clicksKeptSince(reader)
  const since = kept?.toISOString() ?? earliest
  const scope: Scope = {
    account,
    subjects: link === undefined ? undefined : [subjects.link(link)],
    from: minuteOf(since),
    to: minuteOf(latest),
  }
  const found = await agentsBy(rules, reader, scope)
  const agents = found.map(({ rule: _rule, ...agent }) => agent)
  const decision = await decisionOf(reader.db, reader.table, scope, { agents, exclusions })
  const { changes, links } = await countChanges(reader, scope, decision, found)
  const slices = await slicesOf(reader, scope, decision, { links, perPart })
  return {
    changes,
    parts: slices.map(({ links: only, from, to }) => ({
      account,
      ...resources(only),
      from,
      to,
      since,
      rules: rules.version,
      agents,
      exclusions,
    })),
  }
}
