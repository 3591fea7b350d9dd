import { z } from 'zod'
import { Personal, Secret } from '../../security/seal.ts'
import type { EventOf } from '../event.ts'
import { openEnum } from '../openenum.ts'
import { sealedTexts } from '../owned.ts'

const id = z.int()

/**
 * Why a webhook sends nothing: its owner wants it, its receiver answered 410 (Gone), or deliveries have failed for
 * days.
 */
export const WebhookStop = z.enum(['owner', 'gone', 'failing'])
export type WebhookStop = z.infer<typeof WebhookStop>

const fields = {
  name: z.string(),
  /** types of events that it sends; `*`: every type of event, `clicks`: clicks */
  events: z.array(z.string()),
  /** ids of the links that it is about; empty: everything */
  links: z.array(id),
  /** classes of visitors whose clicks it sends; empty: all */
  classes: z.array(z.string()),
}
/** Fields that events of older releases do not have. What is sent has to be in one of each list that is not empty. */
const added = {
  campaigns: z.array(id),
  channels: z.array(id),
  domains: z.array(id),
  tags: z.array(z.string()),
}
const addedFields: z.infer<z.ZodObject<typeof added>> = { campaigns: [], channels: [], domains: [], tags: [] }
const AllFields = z.object({ ...fields, ...added })
export type WebhookFields = z.infer<typeof AllFields>
/** The fields of a webhook as its events have them. */
export type StoredWebhookFields = Omit<WebhookFields, keyof typeof added> & {
  readonly [K in keyof typeof added]?: WebhookFields[K] | undefined
}
/** Returns all fields of a webhook. */
export const completedWebhook = (given: StoredWebhookFields): WebhookFields =>
  ({ ...addedFields, ...given }) as WebhookFields

/** The address of a receiver often has a password or token in it, so it is sealed like one. */
const url = Personal
/** `whsec_…`, under which messages are signed */
const secret = Secret
/** ordinal of the first event that it sends */
const from = id

export const webhookEvents = {
  WebhookCreated: z.object({ id, account: id, ...fields, ...z.object(added).partial().shape, url, secret, from }),
  /** Only fields whose value changes. `to`: the revision whose values it has again. */
  WebhookUpdated: z.object({ id, changes: AllFields.partial(), url: url.optional(), to: id.optional() }),
  /** Messages are signed with the old secret, too, until `until`. */
  WebhookSecretRotated: z.object({ id, secret, until: z.iso.datetime() }),
  /** It continues at another event. `token` tells two replays from the same event apart. */
  WebhookReplayed: z.object({ id, from, token: z.string() }),
  /**
   * It sends the events before `until` again, and goes on then where it was. `next` is where that was at least, for a
   * log that is used without the state of its webhooks. A type of its own: a release that does not know `until` would
   * send everything from `from` on.
   */
  WebhookPartReplayed: z.object({ id, from, until: id, next: id, token: z.string() }),
  WebhookDisabled: z.object({ id, reason: openEnum(WebhookStop) }),
  WebhookEnabled: z.object({ id }),
  WebhookDeleted: z.object({ id }),
}
/** Tags stay open, like all that says what is sent: without them, a release that cannot open them would send more. */
const { WebhookCreated, WebhookUpdated } = sealedTexts('Webhook', { name: '' })
export const webhookTexts = { WebhookCreated, WebhookUpdated }
export type WebhookEvent = EventOf<typeof webhookEvents>
