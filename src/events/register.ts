import type { z } from 'zod'
import { accountEvents } from './accounts/account.ts'
import { approvalEvents } from './approvals/approval.ts'
import { teamEvents } from './accounts/team.ts'
import { claimEvents } from './claim.ts'
import { domainEvents } from './domains/domain.ts'
import type { Metadata } from './event.ts'
import { importEvents } from './imports/import.ts'
import type { EventType } from './index.ts'
import type { ResourceKind } from './kinds.ts'
import { campaignEvents } from './links/campaign.ts'
import { channelEvents } from './links/channel.ts'
import { linkEvents } from './links/link.ts'
import { logEvents } from './log.ts'
import { blockEvents } from './operator/block.ts'
import { reportEvents } from './operator/report.ts'
import { answerEvents } from './pages/answer.ts'
import { bioEvents } from './pages/bio.ts'
import { overlayEvents } from './pages/overlay.ts'
import { pixelEvents } from './pages/pixel.ts'
import { splashEvents } from './pages/splash.ts'
import { projectionEvents } from './projection.ts'
import { qrEvents } from './qr/qr.ts'
import { clickEvents, spoolEvents } from './statistics/click.ts'
import { reclassificationEvents } from './statistics/reclassification.ts'
import { visitEvents } from './statistics/visits.ts'
import { webhookEvents } from './webhooks/webhook.ts'
import { type Entry, open, type Open } from './whose.ts'

type Entries<F extends string> = Readonly<Record<F, Entry>>
const all = <F extends string>(fields: readonly F[], entry: Entry) =>
  Object.fromEntries(fields.map((field) => [field, entry])) as Entries<F>
const nobody = <F extends string>(...fields: readonly F[]) => all(fields, { of: 'nobody' })
const sealed = <F extends string>(...fields: readonly F[]) => all(fields, { of: 'owner', as: 'sealed' })
const alone = <F extends string>(of: 'visitor' | 'reporter', ...fields: readonly F[]) =>
  all(fields, { of, as: 'sealed alone' })
const stays = <F extends string>(
  what: Open,
  of: 'owner' | 'visitor' | 'reporter' | 'operator',
  ...fields: readonly F[]
) => all(fields, { of, as: 'open', what })

/** The fields of an event, and those of its `changes`. */
type FieldsOf<S> =
  S extends z.ZodObject<infer Shape>
    ? Exclude<keyof Shape, 'changes'> | (Shape extends { changes: z.ZodObject<infer Changes> } ? keyof Changes : never)
    : never
type FieldsIn<E> = { [T in keyof E]: FieldsOf<E[T]> }[keyof E] & string

type Schemas = Readonly<Record<string, z.ZodObject>>
/** Events in which a field has the same meaning. */
interface Group {
  readonly schemas: Schemas
  readonly entries: Readonly<Record<string, Entry>>
}

const owned = nobody('id', 'account', 'token', 'to', 'deleted')

const of = <E extends Schemas>(schemas: E, entries: Entries<FieldsIn<E>>): Group => ({ schemas, entries })

const ofResources: Readonly<Record<ResourceKind, Group>> = {
  account: of(accountEvents, {
    ...nobody('id', 'number', 'to', 'replaces', 'key', 'emailToken', 'usernameToken', 'scopes', 'expires', 'limit'),
    ...nobody('due', 'wal', 'member', 'keys', 'identityToken', 'passkeyToken', 'added', 'byEmail', 'managed'),
    ...sealed('email', 'username', 'password', 'timezone', 'name', 'addresses', 'secret', 'recoveryHashes'),
    ...sealed('issuer', 'subject', 'credential', 'publicKey'),
    ...stays('hash', 'owner', 'hash'),
    ...stays('exclusion', 'owner', 'exclusions'),
  }),
  link: of(linkEvents, {
    ...owned,
    ...nobody(
      'domain',
      'type',
      'expiry',
      'pixels',
      'campaign',
      'archived',
      'starts',
      'max_clicks',
      'forward',
      'forward_path',
    ),
    ...nobody('last_variant', 'created', 'import', 'source', 'clicks', 'uniques', 'address', 'added'),
    ...sealed('title', 'description', 'metatitle', 'metadescription', 'metaimage', 'tags', 'notes', 'password'),
    ...stays('address', 'owner', 'alias'),
    ...stays('destination', 'owner', 'url', 'entered', 'expired_url', 'variants', 'unframed'),
    ...stays('rule', 'owner', 'location', 'device', 'browser', 'language'),
    ...stays('parameter', 'owner', 'parameters'),
  }),
  campaign: of(campaignEvents, {
    ...owned,
    ...nobody('public'),
    ...sealed('name'),
    ...stays('address', 'owner', 'slug'),
  }),
  channel: of(channelEvents, {
    ...owned,
    ...nobody('color', 'starred', 'channel', 'item'),
    ...sealed('name', 'description'),
  }),
  domain: of(domainEvents, {
    ...owned,
    ...nobody('free', 'until', 'by'),
    ...stays('address', 'owner', 'domain'),
    ...stays('destination', 'owner', 'redirectroot', 'redirect404', 'apple', 'android'),
  }),
  pixel: of(pixelEvents, { ...owned, ...nobody('type'), ...sealed('name', 'tag') }),
  qr: of(qrEvents, {
    ...owned,
    ...nobody('type', 'foreground', 'background'),
    ...sealed('name', 'data'),
    ...stays('address', 'owner', 'alias'),
    // the image itself is deleted; a PNG is only in events of 0.1.0
    ...stays('hash', 'owner', 'logo', 'logoHash'),
  }),
  overlay: of(overlayEvents, {
    ...owned,
    ...nobody('type', 'color', 'position'),
    ...sealed('name', 'message', 'label', 'image', 'question', 'options', 'coupon'),
    ...stays('destination', 'owner', 'link'),
  }),
  splash: of(splashEvents, {
    ...owned,
    ...nobody('color', 'counter'),
    ...sealed('name', 'title', 'message', 'logo', 'banner', 'label', 'productLabel'),
    ...stays('destination', 'owner', 'product'),
  }),
  bio: of(bioEvents, {
    ...owned,
    ...nobody('theme', 'color', 'lastEntry'),
    ...sealed('name', 'title', 'description', 'avatar', 'links'),
    ...stays('address', 'owner', 'alias'),
  }),
  webhook: of(webhookEvents, {
    ...nobody('id', 'account', 'to', 'events', 'links', 'classes', 'campaigns', 'channels', 'domains', 'from', 'until'),
    ...nobody('next', 'token', 'reason'),
    ...sealed('name', 'url', 'secret'),
    ...stays('rule', 'owner', 'tags'),
  }),
}

/** The data subject of each field of each event. A new field without an entry does not compile. */
export const register: readonly Group[] = [
  ...Object.values(ofResources),
  of(teamEvents, {
    ...nobody('id', 'member', 'role', 'managed', 'person', 'expires', 'to', 'domains', 'by'),
    ...stays('hash', 'owner', 'addressHash'),
  }),
  of(approvalEvents, {
    ...nobody('id', 'number', 'kind', 'target', 'revision', 'member', 'why', 'domains', 'live'),
    ...sealed('tags', 'command', 'note'),
  }),
  of(importEvents, nobody('id', 'account', 'format', 'links', 'kept')),
  of(answerEvents, { ...nobody('overlay', 'account', 'link'), ...alone('visitor', 'fields') }),
  of(blockEvents, {
    ...nobody('kind'),
    ...stays('operator', 'operator', 'reason'),
    ...stays('address', 'owner', 'value', 'addresses'),
  }),
  of(reportEvents, {
    ...nobody('id', 'account', 'kind', 'subject'),
    ...stays('report', 'reporter', 'address', 'reason'),
    ...alone('reporter', 'message', 'email'),
  }),
  of(clickEvents, {
    ...nobody('log', 'partitions', 'rules', 'salt', 'upTo', 'taken', 'spool', 'from', 'to', 'offsets', 'count'),
    ...nobody('accounts'),
    ...stays('destination', 'owner', 'destinations'),
    ...stays('visit', 'visitor', 'clicks', 'agents', 'languages'),
  }),
  of(reclassificationEvents, {
    ...nobody('reclassification', 'account', 'part', 'link', 'qr', 'bio', 'view', 'from', 'to', 'since', 'rules'),
    ...stays('visit', 'visitor', 'agents'),
    ...stays('exclusion', 'owner', 'exclusions'),
  }),
  of(visitEvents, {
    ...nobody('import', 'account', 'since', 'upTo', 'rules', 'salt', 'from'),
    ...stays('destination', 'owner', 'destinations'),
    ...stays('visit', 'visitor', 'clicks', 'agents', 'languages'),
  }),
  of(spoolEvents, nobody('log', 'partition', 'spool', 'after', 'last', 'dropped')),
  of(claimEvents, nobody('token', 'holder', 'account')),
  of(logEvents, {
    ...nobody('logId', 'serviceKey', 'projections', 'clicks', 'to', 'series', 'why', 'seal', 'keys'),
    ...stays('operator', 'operator', 'folder'),
  }),
  of(projectionEvents, {
    ...nobody('projection', 'event', 'type', 'stream', 'revision'),
    ...stays('operator', 'operator', 'reason'),
  }),
]

/**
 * The same for the metadata of an event. It names an operator; it identifies an owner by a number and a key's public
 * id.
 */
export const metadataRegister: Entries<keyof Metadata> = {
  ...nobody('v', 'at', 'account', 'command'),
  ...stays('operator', 'operator', 'actor'),
  ...sealed('request'),
}

/** What the log keeps in clear about an erased account, in the words of its certificate. */
export const remains: readonly string[] = [
  ...Object.values(open),
  'texts in events that an older release has stored in clear',
]

/** Returns the entry of a field of an event, or of its changes. */
export const entryOf = (type: EventType, field: string): Entry | undefined =>
  register.find(({ schemas }) => type in schemas)?.entries[field]
