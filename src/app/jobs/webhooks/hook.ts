import type { Webhook } from '../../../commands/webhooks/webhook.ts'
import { completedWebhook } from '../../../events/webhooks/webhook.ts'
import type { Filter } from './memberships.ts'

/** The place of a message in the log: an event, and a part of it. */
export interface MessagePlace {
  readonly ordinal: number
  readonly part: number
}
/** A message that a webhook has to send. It is read again when it is sent, so that one that waits takes no memory. */
export interface Ref extends MessagePlace {
  readonly stream: string
  readonly revision: bigint
}
/** A part of the log that is sent again: the events before `until`. Then the webhook goes on where it was. */
export interface Replay {
  readonly until: number
  readonly back: MessagePlace
}
/** What is stored of a webhook's place; see `state.webhooks`. */
export interface StoredPlace {
  readonly next: number
  readonly part: number
  readonly idle: boolean
  readonly replay: Replay | undefined
}

/** What a webhook sends, and where. */
export interface Definition {
  readonly url: string
  readonly secret: string
  readonly old: Webhook['old']
  /** whether it sends events of every type */
  readonly all: boolean
  readonly types: ReadonlySet<string>
  readonly clicks: boolean
  /** empty: no matter which */
  readonly links: ReadonlySet<number>
  /** what it has to be in */
  readonly filter: Filter
  readonly classes: ReadonlySet<string>
}

/** A webhook while its process delivers. */
export interface Hook {
  readonly id: number
  readonly account: number
  /** undefined: it sends nothing at present */
  definition: Definition | undefined
  /** of its stream */
  revision: number
  /** how often it has begun */
  starts: number
  /** ordinal of the event at which it has begun; undefined where its stream does not say */
  from: number | undefined
  /** everything before is delivered */
  resume: MessagePlace
  /** the replay that it sends before it continues */
  replay: Replay | undefined
  /** position of the last event of the replay; undefined: to be found */
  end: bigint | undefined
  /** what is to be sent next, in log order */
  refs: Ref[]
  /** whether the tail gives it its events. Otherwise they are read for it from `scanned` on. */
  attached: boolean
  /** position of the last event that was looked at for it; undefined: to be found from `resume` */
  scanned: bigint | undefined
  stored: StoredPlace
  /** `scanned` when the place was stored that follows from it */
  storedScanned: bigint | undefined
  sending: boolean
  failing: { readonly since: number; readonly tries: number; readonly due: number } | undefined
  timer: NodeJS.Timeout | undefined
  /** the host that has accepted its last message; undefined: none has */
  acceptedBy: string | undefined
}

/** Messages that wait in memory for one webhook, and how few have to be left before more of the log is read for it. */
export const [mostRefs, fewRefs] = [200, 50]

export const isBefore = (a: MessagePlace, b: MessagePlace): boolean =>
  a.ordinal < b.ordinal || (a.ordinal === b.ordinal && a.part < b.part)

/** Returns the place after a message. */
export const after = ({ ordinal, part }: MessagePlace): MessagePlace => ({ ordinal, part: part + 1 })

/**
 * Returns what a webhook sends; undefined for one that must not send: it is disabled, or its address or secret cannot
 * be read any more.
 */
export const definitionOf = ({ url, secret, old, stopped, fields }: Webhook): Definition | undefined => {
  if (stopped !== null || !url || !secret?.startsWith('whsec_')) return undefined
  const { events, links, classes, campaigns, channels, domains, tags } = completedWebhook(fields)
  const types = new Set(events)
  return {
    url,
    secret,
    old,
    all: types.has('*'),
    types,
    clicks: types.has('clicks'),
    links: new Set(links),
    filter: {
      campaigns: new Set(campaigns),
      channels: new Set(channels),
      domains: new Set(domains),
      tags: new Set(tags),
    },
    classes: new Set(classes),
  }
}

/** Returns the secrets that sign a message now: two while one is replaced. */
export const secretsOf = ({ secret, old }: Pick<Definition, 'secret' | 'old'>, now: Date): readonly string[] =>
  old?.secret?.startsWith('whsec_') && old.until > now.toISOString() ? [secret, old.secret] : [secret]

/** Lets a webhook continue at a place of the log, which is read again for it. */
export const continueAt = (hook: Hook, place: MessagePlace): void => {
  hook.resume = place
  hook.refs = []
  hook.attached = false
  hook.scanned = undefined
}

/** Returns where a webhook is now; undefined while that has to be found out from `scanned`. */
export const placeOf = ({ refs: [first], resume, attached, scanned }: Hook): MessagePlace | undefined =>
  first ?? (attached || scanned === undefined ? resume : undefined)

/** Whether the log has no more events for the replay of a webhook. Pending events are in `refs`. */
export const isReplayRead = ({ replay, end, scanned }: Hook): boolean =>
  replay !== undefined && end !== undefined && scanned !== undefined && scanned >= end

/**
 * Returns where a webhook goes on after a replay that began at an event: what that has sent, it does not send once
 * more.
 */
const placeAfter = ({ until, back }: Replay, from: number | undefined): MessagePlace =>
  from === undefined || back.ordinal < from || back.ordinal >= until ? back : { ordinal: until, part: 0 }

/**
 * Lets a webhook go on where it was, if its replay is sent. Nothing of it may be under way: an attempt that is stored
 * later would take the webhook into the replay again. Returns whether it does.
 */
export const endReplay = (hook: Hook): boolean => {
  if (!hook.replay || hook.sending || hook.refs.length > 0 || !isReplayRead(hook)) return false
  const back = placeAfter(hook.replay, hook.from)
  hook.replay = undefined
  hook.end = undefined
  continueAt(hook, back)
  return true
}
