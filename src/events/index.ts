import type { z } from 'zod'
import { accountEvents, keyTexts } from './accounts/account.ts'
import { approvalEvents, approvalTexts } from './approvals/approval.ts'
import { answerEvents } from './pages/answer.ts'
import { bioEvents, bioTexts } from './pages/bio.ts'
import { blockEvents } from './operator/block.ts'
import { campaignEvents, campaignTexts } from './links/campaign.ts'
import { channelEvents, channelTexts } from './links/channel.ts'
import { claimEvents } from './claim.ts'
import { clickEvents, clickOutline, spoolEvents } from './statistics/click.ts'
import { domainEvents } from './domains/domain.ts'
import type { EventOf } from './event.ts'
import { importEvents } from './imports/import.ts'
import type { ResourceKind } from './kinds.ts'
import { linkEvents, linkTexts } from './links/link.ts'
import { logEvents } from './log.ts'
import type { SealedGroup } from './owned.ts'
import { overlayEvents, overlayTexts } from './pages/overlay.ts'
import { pixelEvents, pixelTexts } from './pages/pixel.ts'
import { projectionEvents } from './projection.ts'
import { qrEvents } from './qr/qr.ts'
import { reclassificationEvents } from './statistics/reclassification.ts'
import { reportEvents } from './operator/report.ts'
import { splashEvents, splashTexts } from './pages/splash.ts'
import { teamEvents } from './accounts/team.ts'
import type { UnknownEvent } from './unknown.ts'
import { visitEvents, visitsOutline } from './statistics/visits.ts'
import { webhookEvents, webhookTexts } from './webhooks/webhook.ts'

/** The payload schemas of the events in the streams of each kind of resource. */
export const resourceEvents = {
  account: accountEvents,
  link: linkEvents,
  campaign: campaignEvents,
  channel: channelEvents,
  domain: domainEvents,
  pixel: pixelEvents,
  qr: qrEvents,
  overlay: overlayEvents,
  splash: splashEvents,
  bio: bioEvents,
  webhook: webhookEvents,
} as const satisfies Readonly<Record<ResourceKind, object>>

/** The texts in these events that are sealed together. */
const texts = {
  account: keyTexts,
  link: linkTexts,
  campaign: campaignTexts,
  channel: channelTexts,
  domain: {},
  pixel: pixelTexts,
  qr: {},
  overlay: overlayTexts,
  splash: splashTexts,
  bio: bioTexts,
  webhook: webhookTexts,
} as const satisfies Readonly<Record<ResourceKind, object>>

type AllOf<T> = { readonly [K in KeysIn<T[keyof T]>]: Extract<T[keyof T], Readonly<Record<K, unknown>>>[K] }
type KeysIn<U> = U extends unknown ? keyof U : never
/** Joins objects that have no key in common. */
const joined = <T extends object>(objects: T) => Object.assign({}, ...Object.values(objects)) as AllOf<T>

/** The payload schemas of all event types. Types and fields are never removed, because logs keep them forever. */
export const events = {
  ...logEvents,
  ...claimEvents,
  ...clickEvents,
  ...spoolEvents,
  ...reclassificationEvents,
  ...visitEvents,
  ...joined(resourceEvents),
  ...teamEvents,
  ...approvalEvents,
  ...importEvents,
  ...answerEvents,
  ...blockEvents,
  ...reportEvents,
  ...projectionEvents,
}
export type DomainEvent = EventOf<typeof events>
/** By type of event: its texts that are sealed together. */
export const sealedGroups: Readonly<Partial<Record<EventType, SealedGroup>>> = {
  ...joined(texts),
  ...approvalTexts,
}
/**
 * Schemas of what has many parts and is read by those who trust the log: its parts are as this release has written
 * them, and are not validated one by one.
 */
export const outlines: Readonly<Partial<Record<EventType, z.ZodType>>> = {
  LinkClicked: clickOutline,
  VisitsImported: visitsOutline,
}
/** What a reader of the log finds: a newer release may have written events that this one does not know. */
export type LogEvent = DomainEvent | UnknownEvent
export type EventType = DomainEvent['type']
export type Event<T extends EventType> = Extract<DomainEvent, { type: T }>
