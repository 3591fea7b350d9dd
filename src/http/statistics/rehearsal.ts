import type { LinkFields, Variant } from '../../events/links/link.ts'
import type { VisitGroup, AskedDimension, Counts, SentTo } from '../../queries/statistics/rehearse.ts'
import type { Target } from '../../queries/links/target.ts'
import { isBrowser } from '../../clicks/visitor/browser.ts'
import { hasName, modelsIn, traitOf } from '../../clicks/visitor/device.ts'
import { fitOf } from '../../clicks/visitor/range.ts'
import { type Resolved, resolve, type Visitor } from '../public/link/resolve.ts'

/** Why it cannot be known where a recorded visit would go: what the rules ask about was not recorded. */
export const reasons = {
  languages: 'all accepted languages of the visitor are not known',
  device: 'the device model of the visitor is not known',
  variant: 'which of the variants the visitor would get is not known',
  revision: 'the rules of that time are not known',
} as const
export type Reason = keyof typeof reasons

/** The rules ask for something that was not recorded with the visit. */
class NotDecidable extends Error {
  override readonly name = 'NotDecidable'
  readonly reason: Reason
  constructor(reason: Reason) {
    super(reasons[reason])
    this.reason = reason
  }
}

/** Where a visit goes. Without a destination, `rule` says why there is none. */
export interface Outcome {
  readonly destination: string
  readonly rule: string
}

/** Returns what the redirect decides by: only what the rules need, without pages and without a password. */
export const decidingTarget = (
  { starts, expiry, ...fields }: LinkFields,
  link: number,
  over: Partial<Target> = {},
): Target => ({
  ...fields,
  link,
  account: 0,
  revision: 0,
  position: 0n,
  aliasKey: '',
  address: 1,
  password: null,
  // the query that a visitor brought is not recorded
  forward: false,
  starts: starts === null ? null : new Date(starts),
  expiry: expiry === null ? null : new Date(expiry),
  unframed: [],
  interstitial: undefined,
  ...over,
})

/** Returns what some rules ask about visitors. */
export const askedBy = (targets: readonly Target[]): readonly AskedDimension[] => {
  const has = (kind: 'browser' | 'location' | 'language') => targets.some((target) => target[kind].length > 0)
  const traits = new Set(targets.flatMap(({ device }) => device.map(({ name }) => traitOf(name))))
  return [
    ...(traits.has('os') ? (['os'] as const) : []),
    ...(traits.has('device') ? (['device'] as const) : []),
    ...(has('browser') ? (['browser'] as const) : []),
    ...(has('location') ? (['country'] as const) : []),
    ...(has('language') ? (['language'] as const) : []),
    ...(traits.has('models') || has('language') ? (['profile'] as const) : []),
  ]
}

/** A shorter text of words was not cut off, so that it has all names of models that the user agent has. */
const surelyWhole = 96

const modelsOf = ({ profile }: VisitGroup): readonly string[] => {
  if (!profile) throw new NotDecidable('device')
  const { agent, languages, models } = profile
  const seen = modelsIn(agent)
  if (models !== null || languages !== null) return models ?? seen
  // of an older click, the words alone are known
  if (seen.length > 0 || agent.length > surelyWhole) throw new NotDecidable('device')
  return []
}

/** The version of the rules of the first releases, whose clicks have languages without their regions. */
const withoutRegions = 1

/**
 * Returns a language of an older click as the redirect of then has read it: the first rule of the language decided.
 * Which one would decide now is known if there is one only.
 */
const asThen = (language: string, { target, again }: Pick<Rehearsed, 'target' | 'again'>): string => {
  const possible = target.language.filter(({ name }) => fitOf(name, language) !== undefined)
  if (possible.length > 1 && !again) throw new NotDecidable('languages')
  return possible[0]?.name ?? language
}

/**
 * The languages in their order, as far as they are known. Those that are left out are known to match no rule of the
 * target that has decided.
 */
const languagesOf = function* ({ profile, language = '' }: VisitGroup, by: Rehearsed): Generator<string> {
  if (profile?.languages) {
    for (const one of profile.languages) {
      if (one !== '*') yield profile.rules === withoutRegions ? asThen(one, by) : one
      else if (!by.again) throw new NotDecidable('languages')
    }
    return
  }
  if (language === '') return
  yield asThen(language, by)
  throw new NotDecidable('languages')
}

const variantOf = (rule: string) => Number(/^variant:(\d+)$/.exec(rule)?.[1] ?? 0)

/**
 * Returns the variant that a visitor gets. Visitors are split by hashes of them, which are not recorded; but a visitor
 * who got a variant keeps it as long as its weight does not fall compared with the weight of any other.
 */
const variantAmong = (variants: readonly Variant[], got: number, before: readonly Variant[]): number => {
  const weights = new Map(before.map(({ id, weight }) => [id, weight]))
  const possible = variants.filter(({ weight }) => weight > 0)
  if (possible.length === 1) return possible[0]!.id
  const own = possible.find(({ id }) => id === got)
  const growth = ({ id, weight }: Variant) => weight / (weights.get(id) ?? 0)
  if (own && weights.has(got) && possible.every((other) => growth(other) <= growth(own))) return got
  throw new NotDecidable('variant')
}

/** The chances by which `resolve` chooses the given variant and no other. */
const chanceOf = (chosen: () => number) => {
  let winner: number | undefined
  return (variant: number) => {
    winner ??= chosen()
    return variant === winner ? 1 - 2 ** -53 : 2 ** -53
  }
}

interface Rehearsed {
  readonly target: Target
  /** the rules by which the visit was sent where it was recorded; undefined when they are not known */
  readonly inForce: Target | undefined
  /** the target is `inForce` */
  readonly again: boolean
  /** when the visit comes (ms since 1970) */
  readonly at: number
  readonly isOurHost: (host: string) => boolean
}

const outcomeOf = (resolved: Resolved): Outcome => {
  switch (resolved.to) {
    case 'destination':
      return { destination: resolved.recorded ?? resolved.url, rule: resolved.rule }
    case 'instead':
      return { destination: resolved.url, rule: 'expired_url' }
    default:
      return { destination: '', rule: resolved.to }
  }
}

/** Returns where visits would go, by the very function that the redirect uses, or why that cannot be known. */
export const rehearse = (visits: VisitGroup, by: Rehearsed): Outcome | { readonly reason: Reason } => {
  const { target, inForce, at, isOurHost } = by
  const got = variantOf(visits.route.rule)
  const { country = '', os = '', device = '', browser = '' } = visits
  const traits = { os: () => os, device: () => device, models: () => modelsOf(visits) }
  const visitor: Visitor = {
    unlocked: true,
    agent: '',
    isDevice: (name) => hasName(name, traits),
    isBrowser: (name) => isBrowser(name, browser),
    country: () => country,
    languages: () => languagesOf(visits, by),
    untracked: () => false,
    secure: () => true,
    query: () => '',
    chance: chanceOf(() => variantAmong(target.variants, got, inForce?.variants ?? [])),
  }
  try {
    return outcomeOf(resolve(target, visitor, at, isOurHost, visits.usedUp ? (target.max_clicks ?? 0) : 0))
  } catch (error) {
    if (error instanceof NotDecidable) return { reason: error.reason }
    throw error
  }
}

const add = (to: { clicks: number; visits: number }, { clicks, visits }: Counts) => {
  to.clicks += clicks
  to.visits += visits
}
const none = () => ({ clicks: 0, visits: 0 })

/** Adds up where visits went and where they would go. */
export const createTally = (sent: readonly SentTo[]) => {
  const destinations = new Map(sent.map(({ revision, rule, destination }) => [`${revision} ${rule}`, destination]))
  const [total, reproduced, undecided] = [none(), none(), none()]
  const why = new Map<Reason, ReturnType<typeof none>>()
  const places = new Map<string, Outcome & { readonly recorded: Counts; readonly rehearsed: Counts }>()
  const moves = new Map<string, Counts & { readonly from: Outcome; readonly to: Outcome }>()
  const within = <K, V>(map: Map<K, V>, key: K, make: () => V): V => {
    const found = map.get(key) ?? make()
    map.set(key, found)
    return found
  }
  const place = ({ destination, rule }: Outcome) =>
    within(places, `${rule} ${destination}`, () => ({ destination, rule, recorded: none(), rehearsed: none() }))
  return {
    add: (visits: VisitGroup, found: ReturnType<typeof rehearse>) => {
      const { revision, rule } = visits.route
      const from = { destination: destinations.get(`${revision} ${rule}`) ?? '', rule }
      add(total, visits)
      add(place(from).recorded, visits)
      if ('reason' in found) {
        add(undecided, visits)
        add(within(why, found.reason, none), visits)
        return
      }
      add(place(found).rehearsed, visits)
      if (found.rule === from.rule && found.destination === from.destination) return add(reproduced, visits)
      const key = JSON.stringify([from, found])
      add(
        within(moves, key, () => ({ from, to: found, ...none() })),
        visits,
      )
    },
    result: () => ({
      total,
      reproduced,
      not_decidable: { ...undecided, reasons: Object.fromEntries(why) as Partial<Record<Reason, Counts>> },
      destinations: [...places.values()].toSorted(
        (a, b) => b.recorded.visits + b.rehearsed.visits - a.recorded.visits - a.rehearsed.visits,
      ),
      moves: [...moves.values()].toSorted((a, b) => b.visits - a.visits),
    }),
  }
}
