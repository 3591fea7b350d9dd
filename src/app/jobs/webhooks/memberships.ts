import QuickLRU from 'quick-lru'
import type { Decider } from '../../../commands/decider.ts'
import { campaign } from '../../../commands/links/campaign.ts'
import { channel, channelItem, membershipId } from '../../../commands/links/channel.ts'
import { link } from '../../../commands/links/link.ts'
import { domainsOf } from '../../../commands/links/places.ts'
import type { Recorded } from '../../../events/event.ts'
import type { DomainEvent, LogEvent } from '../../../events/index.ts'
import { completed } from '../../../events/links/link.ts'
import { streamId } from '../../../events/streams.ts'
import type { Item } from '../../../events/subject.ts'
import type { EventStore } from '../../../events/store.ts'
import { isUnknown } from '../../../events/unknown.ts'

/** What the events of a stream say about memberships, up to one of them. */
interface Facts {
  /** of a campaign or channel: whether it exists; of an item in a channel: whether it is in it */
  readonly on: boolean
  /** of a link */
  readonly campaign: number | null
  /** of all its addresses, and of those that it had when it was deleted; 0 is the service's own host */
  readonly domains: readonly number[]
  readonly tags: readonly string[]
  /** an event cannot be read: only a newer release knows what is so */
  readonly isUnknown: boolean
}
const nothing: Facts = { on: false, campaign: null, domains: [], tags: [], isUnknown: false }

/** The facts of a stream from each position on at which they changed, in log order. */
interface Timeline {
  readonly changes: readonly { readonly position: bigint; readonly facts: Facts }[]
  /** revision of the first event that is not in it, and the state before that event */
  readonly next: bigint
  readonly state: unknown
}

/** Folds a stream with its decider. The state is only known to the decider. */
const source = <C, S, E extends DomainEvent>(
  { initialState, evolve }: Decider<C, S, E>,
  factsOf: (state: S) => Partial<Facts>,
) => ({
  initialState: initialState as unknown,
  evolve: (state: unknown, event: DomainEvent): unknown => evolve(state as S, event as E),
  factsOf: (state: unknown) => factsOf(state as S),
})
const isOpen = ({ status }: { readonly status: string }) => ({ on: status === 'open' })
const sources = {
  link: source(link, (state) => {
    const { campaign, tags } = completed(state.fields)
    return { campaign, domains: domainsOf(state), tags }
  }),
  campaign: source(campaign, isOpen),
  channel: source(channel, isOpen),
  channelitem: source(channelItem, (state) => ({ on: state === 'in' })),
}
type SourceKind = keyof typeof sources

const isSame = (a: Facts, b: Facts) => JSON.stringify(a) === JSON.stringify(b)

const extended = async (read: EventStore['read'], kind: SourceKind, stream: string, known: Timeline) => {
  const { evolve, factsOf } = sources[kind]
  const changes = [...known.changes]
  let { next, state } = known
  for await (const event of read(stream, next)) {
    const before = changes.at(-1)?.facts ?? nothing
    if (!isUnknown(event)) state = evolve(state, event)
    const facts = { ...before, ...(isUnknown(event) ? { isUnknown: true } : factsOf(state)) }
    if (!isSame(before, facts)) changes.push({ position: event.position, facts })
    next = event.revision + 1n
  }
  return { changes, next, state }
}

/** A moment of the log: just before an event, or just after it. */
export interface Moment {
  readonly position: bigint
  readonly isAfter: boolean
}

/** What a link, bio page or QR code has to be in: in one of each that is not empty. */
export interface Filter {
  readonly campaigns: ReadonlySet<number>
  readonly channels: ReadonlySet<number>
  readonly domains: ReadonlySet<number>
  readonly tags: ReadonlySet<string>
}

export interface Memberships {
  /**
   * Whether an item was at a moment in what a filter names, or may have been: an event that cannot be read leaves
   * nothing out.
   */
  readonly has: (filter: Filter, item: Item, moment: Moment) => Promise<boolean>
  /** Invalidates what is cached of an event's stream. Must be called before a query for a later moment. */
  readonly changed: (event: Pick<Recorded<LogEvent>, 'stream'>) => void
}

/** streams that are kept */
const most = 10_000

/**
 * Returns what knows from the log which campaign, channels, domains and tags links had at a moment. Only the log
 * decides, so that the answer is the same whenever it is asked for, and no read table has to be there.
 */
export const openMemberships = ({ read }: Pick<EventStore, 'read'>): Memberships => {
  const kept = new QuickLRU<string, { timeline: Promise<Timeline>; isStale: boolean }>({ maxSize: most })
  const timelineOf = (kind: SourceKind, stream: string): Promise<Timeline> => {
    const known = kept.get(stream)
    if (known && !known.isStale) return known.timeline
    const before = known?.timeline ?? Promise.resolve({ changes: [], next: 0n, state: sources[kind].initialState })
    const timeline = before.then((timeline) => extended(read, kind, stream, timeline))
    const entry = { timeline, isStale: false }
    kept.set(stream, entry)
    // one that could not be read is read again
    timeline.catch(() => {
      if (kept.get(stream) === entry) kept.delete(stream)
    })
    return timeline
  }
  const factsAt = async (kind: SourceKind, id: string | number, { position, isAfter }: Moment): Promise<Facts> => {
    const { changes } = await timelineOf(kind, streamId(kind, id))
    return (
      changes.findLast((one) => one.position < position || (isAfter && one.position === position))?.facts ?? nothing
    )
  }
  const isOn = async (kind: SourceKind, id: string | number, moment: Moment) => {
    const facts = await factsAt(kind, id, moment)
    return facts.on || facts.isUnknown
  }
  const isInOne = async (channels: ReadonlySet<number>, item: Item, moment: Moment) => {
    const isIn = async (id: number) =>
      (await isOn('channelitem', membershipId(id, item), moment)) && (await isOn('channel', id, moment))
    // what is read at the same time is read at once
    return (await Promise.all([...channels].map(isIn))).some(Boolean)
  }
  const isLinkIn = async ({ campaigns, domains, tags }: Filter, id: number, moment: Moment) => {
    const facts = await factsAt('link', id, moment)
    if (facts.isUnknown) return true
    if (domains.size > 0 && !facts.domains.some((id) => domains.has(id))) return false
    if (tags.size > 0 && !facts.tags.some((tag) => tags.has(tag))) return false
    if (campaigns.size === 0) return true
    return facts.campaign !== null && campaigns.has(facts.campaign) && isOn('campaign', facts.campaign, moment)
  }
  return {
    has: async (filter, item, moment) => {
      const { campaigns, channels, domains, tags } = filter
      const isOfLinks = campaigns.size + domains.size + tags.size > 0
      if (isOfLinks && !(item.kind === 'links' && (await isLinkIn(filter, item.id, moment)))) return false
      return channels.size === 0 || isInOne(channels, item, moment)
    },
    changed: ({ stream }) => {
      const known = kept.get(stream)
      if (known) known.isStale = true
    },
  }
}
