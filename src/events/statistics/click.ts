import { z } from 'zod'
import type { EventOf } from '../event.ts'
import { openEnum } from '../openenum.ts'

const Version = z.object({ family: z.string(), version: z.string() })

/**
 * Where the visitor came in: at the short link itself, a QR code, a campaign's rotator, or a bio page. `id` is the id
 * of that resource, `entry` that of the entry of a bio page that was followed.
 */
export const ClickSource = z.object({
  kind: openEnum(z.enum(['link', 'qr', 'rotator', 'bio'])),
  id: z.int(),
  entry: z.int().optional(),
})

/**
 * The kind of visitor: a person, a bot, a link previewer (of a chat or mail program), a browser that prefetches, or an
 * assistant that opens a page because a person has asked for it. Older releases take the last for one that only newer
 * ones know, which is a visit and no click for them, too.
 */
export const VisitorClass = z.enum(['human', 'bot', 'preview', 'prefetch', 'assistant'])

/** The rules of visits of bio pages: the page was shown, or one of its entries was followed. */
export const bioRules = { view: 'view', entry: 'bio' } as const

/**
 * One visit that was sent to a destination, or a view of a bio page. It has what a later reclassification needs, and
 * where the visit went and why. It has no personal data: no IP address and no user agent. `destination`, `agent` and
 * `languages` are indexes into the lists of the batch.
 */
export const Click = z.object({
  at: z.iso.datetime(),
  account: z.int(),
  /**
   * 0 when no link was involved: a QR code or an entry of a bio page leads to a destination that is no link of the
   * account. Older releases recorded a scan that led to a link twice: with 0, and as an ordinary visit of the link.
   */
  link: z.int(),
  /** revision of the link, QR code or bio page that determined the destination */
  revision: z.int(),
  destination: z.int(),
  /**
   * which rule chose the destination: `link`, `qr`, `bio`, `device:ios`, `browser:safari`, `location:ca`,
   * `language:fr`, `variant:2`, …; `view` when a bio page was shown
   */
  rule: z.string(),
  source: ClickSource,
  /** the number of the address of the link that was visited; absent when it is 1, or no address of it was visited */
  address: z.int().min(2).optional(),
  /** ISO 3166-1 alpha-2, empty when unknown */
  country: z.string(),
  /** primary subtag of the preferred language, empty when unknown */
  language: z.string(),
  /**
   * The accepted languages in the visitor's order; absent when the click is older than this field. Of more than five,
   * the first five, then `*`, and the one that the rule names if it comes later.
   */
  languages: z.int().optional(),
  /** host without `www.` (a link shim counts as its site), empty when there is none or it is one of our own hosts */
  referrer: z.string(),
  /**
   * how the visitor came: by a search, a network, a mail, an AI assistant, an advertisement, another site, or directly;
   * absent when the click is older than this field
   */
  medium: openEnum(z.enum(['direct', 'search', 'social', 'mail', 'ai', 'ads', 'other'])).optional(),
  browser: Version,
  os: Version,
  device: openEnum(z.enum(['desktop', 'mobile', 'tablet', 'other'])),
  /** those of `iphone` and `ipad` that the user agent is, where its words say otherwise */
  models: z.array(openEnum(z.enum(['iphone', 'ipad']))).optional(),
  class: openEnum(VisitorClass),
  /** the part of the user agent that a bot or previewer rule matched */
  bot: z.string().optional(),
  agent: z.int(),
  /** hash of IP address and user agent, keyed with the account's key: 64 bits in hex */
  visitor: z.string(),
})
export type Click = z.infer<typeof Click>

/**
 * A click outside of a batch, with its destination, the words of its user agent, and its languages instead of their
 * indexes.
 */
export const Classified = Click.extend({
  destination: z.string(),
  agent: z.string(),
  languages: z.array(z.string()).readonly().optional(),
})
export type Classified = Readonly<z.infer<typeof Classified>>

/**
 * The last Kafka message of a partition that is recorded: its offset, and the spool and sequence number of its entry.
 */
export const Taken = z.object({ offset: z.int(), spool: z.string(), seq: z.int() })
export type Taken = Readonly<z.infer<typeof Taken>>

/** How many of the dropped clicks each account had; those of accounts beyond the first 999 are under 0. */
export const DroppedAccounts = z.array(z.object({ account: z.int(), count: z.int().min(1) })).readonly()

const upTo = z.record(z.string(), z.int())
const spoolOfPartition = { log: z.string(), partition: z.int(), spool: z.string() }
/** Where to continue in Kafka, and how to recognise the topic; absent when the entries came directly from a spool. */
const taken = Taken.optional()

export const clickEvents = {
  /** The first event of a click log. Its number of partitions never changes. */
  ClickLogOpened: z.object({ log: z.string(), partitions: z.int().min(1) }),
  /**
   * A batch of 1 to 500 clicks of one partition. `upTo` has the last sequence number recorded from each open spool; an
   * entry is new when its number is higher. `rules` is the version of the classification, `agents` are the words of the
   * user agents (letters only), `destinations` the URLs, `languages` the lists of accepted languages, since version 2.
   * `salt` keeps the hashes of its clicks from being guessed, see `leaf.ts`; older batches have none.
   */
  LinkClicked: z.object({
    rules: z.int(),
    agents: z.array(z.string()),
    destinations: z.array(z.string()),
    languages: z.array(z.array(z.string())),
    clicks: z.array(Click).min(1).max(500),
    salt: z.string().optional(),
    upTo,
    taken,
  }),
  /**
   * Sequence numbers `from` to `to` (inclusive) of a spool never arrived: clicks were lost. With `offsets`, they are
   * offsets of Kafka messages that were deleted before they were recorded, and `spool` is empty: at most so many clicks
   * were lost. Where a spool continues after them, another event has its missing numbers.
   */
  ClicksMissing: z.object({
    spool: z.string(),
    from: z.int(),
    to: z.int(),
    offsets: z.literal(true).optional(),
    upTo,
    taken,
  }),
  /**
   * Exact number of clicks that were redirected but could not be stored, because the spool's disk was full. Those of
   * `accounts` add up to `count`; older releases do not write whose they were.
   */
  ClicksDropped: z.object({
    spool: z.string(),
    count: z.int(),
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    accounts: DroppedAccounts.optional(),
    upTo,
    taken,
  }),
}
export type ClickEvent = EventOf<typeof clickEvents>
const isObject = (value: unknown) => typeof value === 'object' && value !== null
/** A batch whose clicks are objects: what they contain is not looked at. */
export const clickOutline = clickEvents.LinkClicked.extend({
  clicks: z.array(z.custom<Click>(isObject)).min(1).max(500),
})

/**
 * In the stream of a spool and a partition: whether the partition's click events name the spool in `upTo`, and from
 * which number on.
 */
export const spoolEvents = {
  /** Entries are recorded from the one after `after` on. */
  SpoolOpened: z.object({ ...spoolOfPartition, after: z.int() }),
  /**
   * Everything up to `last` is recorded, so click events no longer name the spool; an entry above it opens the spool
   * again. An operator has dropped the last `dropped` of them without recording them.
   */
  SpoolRetired: z.object({ ...spoolOfPartition, last: z.int(), dropped: z.int().optional() }),
}
export type SpoolEvent = EventOf<typeof spoolEvents>
