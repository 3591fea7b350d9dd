import { z } from 'zod'
import { requireOwn } from '../../commands/caller.ts'
import { campaign } from '../../commands/links/campaign.ts'
import { channel } from '../../commands/links/channel.ts'
import { type Decider, isRefused } from '../../commands/decider.ts'
import { domain } from '../../commands/domains/domain.ts'
import { link } from '../../commands/links/link.ts'
import { countRevision } from '../../commands/load.ts'
import { webhook } from '../../commands/webhooks/webhook.ts'
import type { DomainEvent } from '../../events/index.ts'
import { VisitorClass } from '../../events/statistics/click.ts'
import type { Ordinals } from '../../events/ordinals.ts'
import { must, orStop, parseMoment, says, text } from '../../lib/fields.ts'
import { fail, failAt, failField } from '../api/errors.ts'
import { bodyId, flag, url } from '../api/fields.ts'
import type { Call } from '../api/route.ts'
import { type Blocking, rejectBlocked } from '../api/blockedaddress.ts'
import { type OurHosts, rejectOwnAddresses } from '../api/ownaddress.ts'
import { accountTypes, resourceTypes } from '../streams/publicevent.ts'
import type { WebhookSending } from './test.ts'
import type { StepUps } from '../accounts/credentials.ts'
import type { Mails } from '../accounts/mails.ts'
import { tagList } from '../links/tag.ts'

const day = 86_400
const [defaultOverlap, longestOverlap] = [day, 30 * day]
const [mostIds, mostTypes] = [100, 200]

const eventTypes = ['*', 'clicks', ...resourceTypes, ...accountTypes]
const events = z
  .array(
    z.enum(eventTypes, says('not_one_of', { what: 'webhook_events' })),
    must('wrong_type', { what: 'event_types' }),
  )
  .min(1, orStop(says('too_few', { what: 'one' })))
  .max(mostTypes, says('too_many', { max: mostTypes }))
  .transform((all) => [...new Set(all)])
const classNames = VisitorClass.options
const classes = z
  .array(
    z.enum(classNames, says('not_one_of', { what: 'some', values: classNames.join(', ') })),
    must('wrong_type', { what: 'classes' }),
  )
  .transform((all) => [...new Set(all)])
const idsOf = (what: 'link_ids' | 'campaign_ids' | 'channel_ids' | 'domain_ids') =>
  z
    .array(bodyId, must('wrong_type', { what }))
    .max(mostIds, says('too_many', { max: mostIds }))
    .transform((all) => [...new Set(all)])
/** What is sent has to be in one of each list that is not empty. */
const filters = {
  links: idsOf('link_ids'),
  campaigns: idsOf('campaign_ids'),
  channels: idsOf('channel_ids'),
  domains: idsOf('domain_ids'),
  tags: tagList.refine((found) => found.length <= mostIds, says('too_many', { max: mostIds })),
}
const none = <T extends z.ZodType<readonly unknown[]>>(list: T) => list.default([] as never)

const place = z.union(
  [z.int().min(0, says('wrong_form', { what: 'place' })), text(64)],
  must('wrong_form', { what: 'place' }),
)

/** The body that creates a webhook. */
export const newWebhook = z.object({
  name: text(255).default(''),
  url,
  events: events.default(['*']),
  links: none(filters.links),
  campaigns: none(filters.campaigns),
  channels: none(filters.channels),
  domains: none(filters.domains),
  tags: none(filters.tags),
  classes: classes.default(['human']),
  from: place.optional(),
})
/** The body that changes one. */
export const webhookChanges = z.object({
  name: text(255).optional(),
  url: url.optional(),
  events: events.optional(),
  ...z.object(filters).partial().shape,
  classes: classes.optional(),
  enabled: flag.optional(),
})
const overlap = z
  .int(must('wrong_type', { what: 'seconds' }))
  .min(0, says('too_small', { what: 'seconds', min: 0 }))
  .max(longestOverlap, says('too_large', { what: 'seconds', max: longestOverlap, days: 30 }))
  .default(defaultOverlap)
/** The body that replaces its secret. */
export const rotation = z.object({ overlap })

/** The body that lets it continue at another event. */
export const replay = z.object({ from: place, until: place.optional() })

/**
 * Returns the ordinal of the first event to be sent: of the next one (`now`), of a given one, or of the first one from
 * a moment on.
 */
export const ordinalOf = async (given: number | string | undefined, ordinals: Ordinals): Promise<number> => {
  const head = await ordinals.head()
  if (given === undefined || given === 'now' || given === '') return head
  if (typeof given === 'number' || /^\d{1,15}$/.test(given)) {
    const ordinal = Number(given)
    return ordinal <= head ? ordinal : failField('from', 'too_large', { what: 'next_event', max: head })
  }
  const moment = parseMoment(given, '00:00:00')
  if (!moment) return failField('from', 'wrong_form', { what: 'place' })
  if (moment.getTime() > Date.now()) return failField('from', 'in_future', {})
  const before = await ordinals.lastAt(new Date(moment.getTime() - 1))
  return before === undefined ? 0 : before.ordinal + 1
}

type OwnedState = { readonly status: string; readonly account: number }
type IdField = 'links' | 'campaigns' | 'channels' | 'domains'
/** Throws unless each id of a field is that of a resource of the caller's. */
const requireIds = async <C, S extends OwnedState, E extends DomainEvent>(
  call: Pick<Call, 'account' | 'load'>,
  decider: Decider<C, S, E>,
  field: IdField,
  ids: readonly number[] = [],
) => {
  const isForeign = (error: unknown) => {
    if (isRefused(error, 'not_found')) return true
    throw error
  }
  for (const id of ids)
    if (await requireOwn(call, decider, id).then(() => false, isForeign))
      failField(field, 'not_yours', { what: field, id })
}

/**
 * Returns the ordinal after the last event to be sent again: after a given one, or after the last one before a moment
 * or up to the end of a day.
 */
export const endOf = async (
  given: number | string | undefined,
  start: number,
  ordinals: Ordinals,
): Promise<number | undefined> => {
  if (given === undefined || given === '') return undefined
  const end = await endIn(given, ordinals)
  return end > start ? end : failField('until', 'wrong_order', { what: 'from' })
}

const endIn = async (given: number | string, ordinals: Ordinals): Promise<number> => {
  const head = await ordinals.head()
  if (given === 'now') return head
  if (typeof given === 'number' || /^\d{1,15}$/.test(given)) {
    const last = Number(given)
    return last < head ? last + 1 : failField('until', 'too_large', { what: 'newest_event', max: head - 1 })
  }
  const [begin, end] = [parseMoment(given, '00:00:00'), parseMoment(given, '24:00:00')]
  if (!begin || !end) return failField('until', 'wrong_form', { what: 'place' })
  // a day may be this one
  if (begin.getTime() > Date.now()) return failField('until', 'in_future', {})
  const last = await ordinals.lastAt(new Date(end.getTime() - 1))
  return last === undefined ? 0 : last.ordinal + 1
}

/** Returns a type of events of the account, if there is one. */
const typeOfAccount = (types: readonly string[]) => types.find((type) => accountTypes.includes(type))

/** What a webhook sends, and where. */
interface Sender {
  readonly url: string | null
  readonly fields: { readonly events: readonly string[] }
}

/** Whether a change makes a webhook send events of the account that it has not sent so far, or elsewhere. */
export const sendsMoreOfAccount = ({ url: address, events }: Target, own?: Sender): boolean => {
  const before = own?.fields.events ?? []
  const after = (events ?? before).filter((type) => accountTypes.includes(type))
  const isMoved = address !== undefined && address !== own?.url
  return after.some((type) => isMoved || !before.includes(type))
}

/** Notifies the owner, after the change, that a webhook sends to another address. */
export const beforeMove = async (
  {
    account,
    lang,
    load,
    params: { id },
  }: Pick<Call, 'account' | 'lang' | 'load'> & { readonly params: { readonly id: number } },
  own: Pick<Sender, 'url'>,
  moved: string | undefined,
  { mails }: Pick<WebhookServices, 'mails'>,
) => {
  if (moved === undefined || moved === own.url) return
  const after = countRevision((await load(webhook, id)).revision)
  await mails?.order({ kind: 'webhookMoved', lang, after, webhook: id, url: moved }, account)
}

/** Whether a webhook sends events of the account itself. */
export const sendsOfAccount = ({ fields }: Sender): boolean => typeOfAccount(fields.events) !== undefined

/**
 * Throws when the caller is to get the secret of a webhook that sends what the caller may not read, or to let it send
 * that once more. `field` says which.
 */
export const requireMayRead = (
  { may }: Pick<Call, 'may'>,
  { fields }: Sender,
  field: 'secret' | 'enabled' | 'from' | 'message',
) => {
  const type = typeOfAccount(fields.events)
  if (type !== undefined && !may('account')) fail(403, 'lacks_scope', { what: 'receiver', field, type })
}

/** Throws when a webhook sends what the caller may not read, and is to send it elsewhere. */
export const requireSameReceiver = ({ may }: Pick<Call, 'may'>, { url: address, events = [] }: Target, own: Sender) => {
  const ofAccount = typeOfAccount(own.fields.events)
  if (ofAccount === undefined || may('account') || address === undefined || address === own.url) return
  if (events.length > 0 && typeOfAccount(events) === undefined) return
  fail(403, 'lacks_scope', { what: 'receiver', field: 'url', type: ofAccount })
}

type Target = Partial<Pick<z.output<typeof webhookChanges>, 'url' | 'events' | IdField>>

/** What the routes of webhooks need. */
export interface WebhookServices extends OurHosts, Blocking {
  /** undefined without SMTP_URL */
  readonly mails: Mails | undefined
  readonly stepUps: Pick<StepUps, 'require'>
  readonly ordinals: Ordinals
  readonly webhooks: WebhookSending
}

/** Throws unless a webhook may have these fields. It may keep ids that it has: what they name may be deleted by now. */
export const requireAllowed = async (
  call: Pick<Call, 'account' | 'load' | 'may'>,
  given: Target,
  services: Pick<WebhookServices, 'blocks' | 'webhooks' | 'isOurHost'>,
  own: Partial<Pick<Target, IdField>> = {},
) => {
  const { url: address, events: types = [] } = given
  if (address !== undefined) {
    const found = services.webhooks.problemOf(address)
    if (found) failAt('url', found)
    rejectOwnAddresses({ url: [address] }, services)
    rejectBlocked({ url: [address] }, services)
  }
  const ofAccount = typeOfAccount(types)
  if (ofAccount !== undefined && !call.may('account'))
    fail(403, 'lacks_scope', { what: 'events', field: 'events', type: ofAccount })
  const added = (field: IdField) => given[field]?.filter((id) => !own[field]?.includes(id))
  await requireIds(call, link, 'links', added('links'))
  await requireIds(call, campaign, 'campaigns', added('campaigns'))
  await requireIds(call, channel, 'channels', added('channels'))
  await requireIds(call, domain, 'domains', added('domains'))
}
