import QuickLRU from 'quick-lru'
import { membershipId } from '../../commands/channel.ts'
import type { Recorded } from '../../events/event.ts'
import type { LogEvent } from '../../events/index.ts'
import { completed } from '../../events/link.ts'
import { streamId } from '../../events/streams.ts'
import type { Item } from '../../events/subject.ts'
import type { WebhookOptions } from './options.ts'

/** What the events of a stream say about memberships, up to one of them. */
interface Facts {
  /** of a campaign or channel: whether it exists; of an item in a channel: whether it is in it */
  readonly on: boolean
  /** of a link */
  readonly campaign: number | null
  readonly domain: number | null
  readonly tags: readonly string[]
}
const nothing: Facts = { on: false, campaign: null, domain: null, tags: [] }

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
    default:
      return facts
  }
}

const isSame = (a: Facts, b: Facts) => JSON.stringify(a) === JSON.stringify(b)

const extended = async (read: WebhookOptions['store']['read'], stream: string, { changes, next }: Timeline) => {
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
  /** Whether an item was at a moment in what a filter names. */
  readonly has: (filter: Filter, item: Item, moment: Moment) => Promise<boolean>
  /** Takes note of an event: what it says was not known before. Has to be called before a later moment is asked for. */
  readonly changed: (event: Pick<Recorded<LogEvent>, 'stream'>) => void
}

/** streams that are kept */
const most = 10_000

/**
 * Returns what knows from the log which campaign, channels, domain and tags links had at a moment. Only the log decides, so that the answer is the same
 * whenever it is asked for, and no read table has to be there.
 */
export const openMemberships = ({ read }: Pick<WebhookOptions['store'], 'read'>): Memberships => {
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
  const isInOne = async (channels: ReadonlySet<number>, item: Item, moment: Moment) => {
    for (const channel of channels) {
      const { on: isMember } = await factsAt(streamId('channelitem', membershipId(channel, item)), moment)
      if (isMember && (await factsAt(streamId('channel', channel), moment)).on) return true
    }
    return false
  }
  return {
    has: async ({ campaigns, channels, domains, tags }, item, moment) => {
      if (campaigns.size + domains.size + tags.size > 0) {
        if (item.kind !== 'links') return false
        const link = await factsAt(streamId('link', item.id), moment)
        if (domains.size > 0 && !(link.domain !== null && domains.has(link.domain))) return false
        if (tags.size > 0 && !link.tags.some((tag) => tags.has(tag))) return false
        if (campaigns.size > 0) {
          const { campaign } = link
          if (campaign === null || !campaigns.has(campaign)) return false
          if (!(await factsAt(streamId('campaign', campaign), moment)).on) return false
        }
      }
      return channels.size === 0 || isInOne(channels, item, moment)
    },
    changed: ({ stream }) => {
      const known = kept.get(stream)
      if (known) known.isStale = true
    },
  }
}
