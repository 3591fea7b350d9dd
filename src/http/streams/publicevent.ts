import { accountEvents } from '../../events/accounts/account.ts'
import { answerEvents } from '../../events/pages/answer.ts'
import { bioEvents } from '../../events/pages/bio.ts'
import { campaignEvents } from '../../events/links/campaign.ts'
import { channelEvents } from '../../events/links/channel.ts'
import type { Classified } from '../../events/statistics/click.ts'
import { domainEvents } from '../../events/domains/domain.ts'
import type { Recorded } from '../../events/event.ts'
import type { Event, LogEvent } from '../../events/index.ts'
import { linkEvents } from '../../events/links/link.ts'
import { clickId } from '../../events/ordinals.ts'
import { overlayEvents } from '../../events/pages/overlay.ts'
import { pixelEvents } from '../../events/pages/pixel.ts'
import { qrEvents } from '../../events/qr/qr.ts'
import { reclassificationEvents } from '../../events/statistics/reclassification.ts'
import { splashEvents } from '../../events/pages/splash.ts'
import { parseStreamId, type StreamKind } from '../../events/streams.ts'
import { webhookEvents } from '../../events/webhooks/webhook.ts'
import { presentEvent } from '../accounts/export/history.ts'

/** Who may read an event that leaves the service: keys that may read, those with the scope `account` only, or nobody; `unknown`: only a newer release says. */
type Shown = 'read' | 'account' | 'never' | 'unknown'

/** The streams whose events an owner may read. The others are about names, clicks, or work of the operator. */
const shown: Readonly<Record<StreamKind, Shown>> = {
  account: 'account',
  answer: 'read',
  bio: 'read',
  block: 'never',
  campaign: 'read',
  channel: 'read',
  channelitem: 'read',
  claim: 'never',
  clicks: 'never',
  domain: 'read',
  link: 'read',
  log: 'never',
  overlay: 'read',
  pixel: 'read',
  projection: 'never',
  qr: 'read',
  reclassification: 'account',
  report: 'never',
  splash: 'read',
  spool: 'never',
  // the address of a receiver often has a password in it
  webhook: 'account',
}

/** Returns who may read the events of a stream. */
export const shownTo = (stream: string): Shown =>
  (shown as Readonly<Record<string, Shown | undefined>>)[parseStreamId(stream).kind] ?? 'unknown'

/** The types of events that need the scope `account`. */
export const accountTypes: readonly string[] = Object.keys({
  ...accountEvents,
  ...reclassificationEvents,
  ...webhookEvents,
})
/** The types of events that every key may read that may read anything. */
export const resourceTypes: readonly string[] = Object.keys({
  ...linkEvents,
  ...qrEvents,
  ...domainEvents,
  ...campaignEvents,
  ...channelEvents,
  ...pixelEvents,
  ...overlayEvents,
  ...splashEvents,
  ...bioEvents,
  ...answerEvents,
})

/** A click as it leaves the service: the fields of the topic of clicks, and what identifies it. */
export interface PublicClick extends Classified {
  readonly id: string
  readonly event: number
  readonly index: number
  readonly rules: number
}

/** Returns a click of a batch. */
export const publicClick = (
  { rules, clicks, destinations, languages: lists, agents }: Event<'LinkClicked'>['data'],
  event: number,
  index: number,
): PublicClick => {
  const { languages, ...click } = clicks[index]!
  return {
    id: clickId(event, index),
    event,
    index,
    rules,
    ...click,
    destination: destinations[click.destination] ?? '',
    ...(languages === undefined ? {} : { languages: lists[languages] ?? [] }),
    agent: agents[click.agent] ?? '',
  }
}

/** How webhooks show events. A fence in the stream of a resource says nothing about the resource. */
export const asSent = {
  shownTo: ({ type, stream }: { readonly type: string; readonly stream: string }): Shown =>
    type === 'ClaimFenced' ? 'never' : shownTo(stream),
  event: (event: Recorded<LogEvent>, ordinal: number) => ({ event: ordinal, ...presentEvent(event) }),
  click: ({ data }: Recorded<Event<'LinkClicked'>>, ordinal: number, index: number) =>
    publicClick(data, ordinal, index),
}
