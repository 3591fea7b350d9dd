import { accountEvents } from './account.ts'
import { answerEvents } from './answer.ts'
import { bioEvents } from './bio.ts'
import { blockEvents } from './block.ts'
import { campaignEvents } from './campaign.ts'
import { channelEvents } from './channel.ts'
import { claimEvents } from './claim.ts'
import { clickEvents, spoolEvents } from './click.ts'
import { domainEvents } from './domain.ts'
import type { EventOf } from './event.ts'
import { linkEvents } from './link.ts'
import { logEvents } from './log.ts'
import { overlayEvents } from './overlay.ts'
import { pixelEvents } from './pixel.ts'
import { projectionEvents } from './projection.ts'
import { qrEvents } from './qr.ts'
import { reclassificationEvents } from './reclassification.ts'
import { reportEvents } from './report.ts'
import { splashEvents } from './splash.ts'
import type { UnknownEvent } from './unknown.ts'
import { webhookEvents } from './webhook.ts'

/** The payload schemas of all event types. Types and fields are never removed, because logs keep them forever. */
export const events = {
  ...logEvents,
  ...claimEvents,
  ...accountEvents,
  ...linkEvents,
  ...clickEvents,
  ...spoolEvents,
  ...reclassificationEvents,
  ...campaignEvents,
  ...channelEvents,
  ...domainEvents,
  ...pixelEvents,
  ...qrEvents,
  ...overlayEvents,
  ...splashEvents,
  ...bioEvents,
  ...answerEvents,
  ...blockEvents,
  ...reportEvents,
  ...webhookEvents,
  ...projectionEvents,
}
export type DomainEvent = EventOf<typeof events>
/** What a reader of the log finds: a newer release may have written events that this one does not know. */
export type LogEvent = DomainEvent | UnknownEvent
export type EventType = DomainEvent['type']
export type Event<T extends EventType> = Extract<DomainEvent, { type: T }>
