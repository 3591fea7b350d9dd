import QuickLRU from 'quick-lru'
import { membershipId } from '../../../commands/links/channel.ts'
import type { Recorded } from '../../../events/event.ts'
import type { LogEvent } from '../../../events/index.ts'
import { completed } from '../../../events/links/link.ts'
import { streamId } from '../../../events/streams.ts'
import type { Item } from '../../../events/subject.ts'
import type { EventStore } from '../../../events/store.ts'

/** What the events of a stream say about memberships, up to one of them. */
interface Facts {
  /** of a campaign or channel: whether it exists; of an item in a channel: whether it is in it */
  readonly on: boolean
  /** of a link */
  readonly campaign: number | null
  readonly domain: number | null
  readonly tags: readonly string[]
  /** an event cannot be read: only a newer release knows what is so */
  readonly isUnknown: boolean
}
const nothing: Facts = { on: false, campaign: null, domain: null, tags: [], isUnknown: false }

/** The facts of a stream from each position on at which they changed, in log order. */
interface Timeline {
  readonly changes: readonly { readonly position: bigint; readonly facts: Facts }[]
  /** revision of the first event that is not in it */
  readonly next: bigint
}
const empty: Timeline = { changes: [], next: 0n }

const after = (facts: Facts, { type, data }: LogEvent): Facts => {
  switch (type) {
    case 'LinkCreated': {
      const { campaign, domain, tags } = completed(data)
      return { ...facts, campaign, domain, tags }
    }
    case 'LinkUpdated':
    case 'LinkRestored': {
      const { campaign = facts.campaign, domain = facts.domain, tags = facts.tags } = data.changes
      return { ...facts, campaign, domain, tags }
    }
    case 'CampaignCreated':
    case 'CampaignRestored':
    case 'ChannelCreated':
    case 'ChannelRestored':
    case 'ItemAssignedToChannel':
      return { ...facts, on: true }
    case 'CampaignDeleted':
    case 'ChannelDeleted':
    case 'ItemRemovedFromChannel':
      return { ...facts, on: false }
    case 'Unknown':
      return { ...facts, isUnknown: true }
    default:
      return facts
  }
}

const isSame = (a: Facts, b: Facts) => JSON.stringify(a) === JSON.stringify(b)

const extended = async (read: EventStore['read'], stream: string, { changes, next }: Timeline) => {
  const all = [...changes]
  let end = next
  for await (const event of read(stream, next)) {
    const before = all.at(-1)?.facts ?? nothing
    const facts = after(before, event)
    if (!isSame(before, facts)) all.push({ position: event.position, facts })
    end = event.revision + 1n
  }
  return { changes: all, next: end }
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
  /** Takes note of an event: what it says was not known before. Has to be called before a later moment is asked for. */
  readonly changed: (event: Pick<Recorded<LogEvent>, 'stream'>) => void
}

/** streams that are kept */
const most = 10_000

/**
 * Returns what knows from the log which campaign, channels, domain and tags links had at a moment. Only the log
 * decides, so that the answer is the same whenever it is asked for, and no read table has to be there.
 */
export const openMemberships = ({ read }: Pick<EventStore, 'read'>): Memberships => {
  const kept = new QuickLRU<string, { timeline: Promise<Timeline>; isStale: boolean }>({ maxSize: most })
  const timelineOf = (stream: string): Promise<Timeline> => {
    const known = kept.get(stream)
    if (known && !known.isStale) return known.timeline
    const timeline = (known?.timeline ?? Promise.resolve(empty)).then((before) => extended(read, stream, before))
    const entry = { timeline, isStale: false }
    kept.set(stream, entry)
    // one that could not be read is read again
    timeline.catch(() => {
      if (kept.get(stream) === entry) kept.delete(stream)
    })
    return timeline
  }
  const factsAt = async (stream: string, { position, isAfter }: Moment): Promise<Facts> => {
    const { changes } = await timelineOf(stream)
    return (
      changes.findLast((one) => one.position < position || (isAfter && one.position === position))?.facts ?? nothing
    )
  }
  const isOn = async (stream: string, moment: Moment) => {
    const { on, isUnknown } = await factsAt(stream, moment)
    return on || isUnknown
  }
  const isInOne = async (channels: ReadonlySet<number>, item: Item, moment: Moment) => {
    const isIn = async (channel: number) =>
      (await isOn(streamId('channelitem', membershipId(channel, item)), moment)) &&
      (await isOn(streamId('channel', channel), moment))
    // together: what is read at the same time is read at once
    return (await Promise.all([...channels].map(isIn))).some(Boolean)
  }
  const isLinkIn = async ({ campaigns, domains, tags }: Filter, id: number, moment: Moment) => {
    const link = await factsAt(streamId('link', id), moment)
    if (link.isUnknown) return true
    const { campaign, domain } = link
    if (domains.size > 0 && !(domain !== null && domains.has(domain))) return false
    if (tags.size > 0 && !link.tags.some((tag) => tags.has(tag))) return false
    if (campaigns.size === 0) return true
    return campaign !== null && campaigns.has(campaign) && isOn(streamId('campaign', campaign), moment)
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
