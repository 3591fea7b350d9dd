import { z } from 'zod'
import type { EventOf } from './event.ts'

const Version = z.object({ family: z.string(), version: z.string() })

/** What brought the visitor: the short link itself, a QR code, or a campaign's rotator; `id` is of that thing. */
export const ClickSource = z.object({ kind: z.enum(['link', 'qr', 'rotator']), id: z.int() })

/** Who it was: a person, a known bot, a link previewer (chat and mail programs), or a browser that fetched ahead. */
export const VisitorClass = z.enum(['human', 'bot', 'preview', 'prefetch'])

/**
 * One visit that reached a destination. It holds what a later re-classification and "where did it go, and why" need, and nothing personal:
 * no address, no user agent. `destination` and `agent` are indexes into the batch's dictionaries.
 */
export const Click = z.object({
  at: z.iso.datetime(),
  account: z.int(),
  /** 0 when there was none: a QR code was scanned that leads to its destination by itself */
  link: z.int(),
  /** revision of the stream that decided, the link's or the QR code's, as a number */
  revision: z.int(),
  destination: z.int(),
  /** which rule chose the destination: `link`, `qr`, later `device:ios`, `location:ca`, `language:fr` */
  rule: z.string(),
  source: ClickSource,
  /** ISO 3166-1 alpha-2, `` when not known */
  country: z.string(),
  /** primary subtag of the preferred language, `` when not known */
  language: z.string(),
  /** host without `www.`, link shims by their site, `` when none or one of ours */
  referrer: z.string(),
  browser: Version,
  os: Version,
  device: z.enum(['desktop', 'mobile', 'tablet', 'other']),
  class: VisitorClass,
  /** the token of the user agent that a bot or previewer rule matched */
  bot: z.string().optional(),
  agent: z.int(),
  /** keyed hash of address and user agent under the account's key: 64 bits, hex */
  visitor: z.string(),
})
export type Click = z.infer<typeof Click>

/** A click before its batch has dictionaries: `destination` and `agent` (the user agent's words) still stand as text. */
export const Classified = Click.extend({ destination: z.string(), agent: z.string() })
export type Classified = Readonly<z.infer<typeof Classified>>

/** The last message of a Kafka partition that was taken: where it stood, and which entry of which spool it was. */
export const Taken = z.object({ offset: z.int(), spool: z.string(), seq: z.int() })
export type Taken = Readonly<z.infer<typeof Taken>>

const upTo = z.record(z.string(), z.int())
/** Where to read on in Kafka, and by what to know the topic again; absent when the entries came straight from a spool. */
const taken = Taken.optional()

export const clickEvents = {
  /** The first event of a click log: how many partitions it has, for ever. */
  ClickLogOpened: z.object({ log: z.string(), partitions: z.int().min(1) }),
  /**
   * A batch of 1 to 500 clicks of one partition. `upTo` holds the last sequence number taken from each spool, and alone decides what is new.
   * `rules` is the version of the classification, `agents` the words of the user agents (letters only), `destinations` the addresses sent to.
   */
  LinkClicked: z.object({
    rules: z.int(),
    agents: z.array(z.string()),
    destinations: z.array(z.string()),
    clicks: z.array(Click).min(1).max(500),
    upTo,
    taken,
  }),
  /** Sequence numbers of a spool that never arrived, `from` and `to` included: a loss that an auditor can see. */
  ClicksMissing: z.object({ spool: z.string(), from: z.int(), to: z.int(), upTo, taken }),
  /** Clicks that were answered but could not be kept (the spool's disk was full), counted exactly. */
  ClicksDropped: z.object({
    spool: z.string(),
    count: z.int(),
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    upTo,
    taken,
  }),
}
export type ClickEvent = EventOf<typeof clickEvents>
