import type { Account } from '../../commands/accounts/state.ts'
import type { Team } from '../../commands/accounts/roster.ts'
import type { DomainEvent, LogEvent } from '../../events/index.ts'
import { kindAt, kindOf } from '../../events/kinds.ts'
import { parseStreamId } from '../../events/streams.ts'
import { changesBetween, type FieldChange, keyFieldsOf, type OriginOf } from './fields.ts'
import { fieldsIn, historyOf } from './kinds.ts'

/** The resource that an event is about, as the API names it. */
export interface About {
  readonly type: string
  readonly id: number
}

/** Returns the resource that an event is about. */
export const aboutOf = ({ stream, type, data }: { readonly stream: string } & LogEvent): About => {
  const { kind, number } = parseStreamId(stream)
  const of = (one: string, id: number) => ({ type: kindOf(one)?.path ?? one, id })
  switch (type) {
    case 'ApiKeyIssued':
      return { type: 'key', id: 1 }
    case 'ApiKeyAdded':
    case 'ApiKeyAddedByMember':
    case 'ApiKeyUpdated':
    case 'ApiKeyDeleted':
      return { type: 'key', id: data.number }
    case 'TeamStarted':
    case 'MemberInvited':
    case 'InvitationWithdrawn':
    case 'MemberJoined':
    case 'MemberRoleChanged':
    case 'MemberRoleManaged':
    case 'MemberRemoved':
      return { type: 'member', id: data.member }
    case 'ChangeProposed':
    case 'ChangeApproved':
    case 'ChangeApplied':
    case 'ChangeRefused':
      return { type: 'proposal', id: data.number }
    case 'ItemAssignedToChannel':
    case 'ItemRemovedFromChannel':
      return of(data.item.kind === 'links' ? 'link' : data.item.kind, data.item.id)
    case 'AnswerGiven':
    case 'AnswerErased':
      return of('overlay', data.overlay)
    case 'AddressBlocked':
    case 'AddressUnblocked':
      return of(data.kind, Number(data.value) || 0)
    default:
      return of(kind, Number.isNaN(number) ? 0 : number)
  }
}

const sentences: Readonly<Partial<Record<DomainEvent['type'], string>>> = {
  AccountRegistered: 'Account registered.',
  AccountRegisteredByIdentity: 'Account made by a sign-in with an issuer.',
  AccountEmailChanged: 'E-mail address changed.',
  AccountPasswordChanged: 'Password changed.',
  AccountRateLimitSet: 'Rate limit changed by the operator.',
  AccountOperatorMarked: 'Account marked as an operator.',
  AccountOperatorUnmarked: 'Account no longer an operator.',
  AccountOperatorManaged: 'Mark of an operator set by the issuer.',
  AccountDisabled: 'Account disabled.',
  AccountEnabled: 'Account enabled.',
  AccountDeactivated: 'Access ended by the directory of the organization.',
  AccountReactivated: 'Access given back.',
  AccountErasureScheduled: 'Erasure of the account scheduled.',
  AccountErasureCancelled: 'Erasure of the account cancelled.',
  AccountErased: 'Account erased.',
  AccountErasedOnDisk: 'Account erased from the files of the database.',
  ApiKeyAdded: 'API key created.',
  ApiKeyAddedByMember: 'API key created.',
  ApiKeyUpdated: 'API key changed.',
  ApiKeyDeleted: 'API key ended.',
  AccountAdded: 'Account for a team made.',
  AccountSignInEnded: 'Account made one for a team: its own sign-in has ended.',
  TeamStarted: 'Account for a team made.',
  MemberInvited: 'Member invited.',
  InvitationWithdrawn: 'Invitation withdrawn.',
  MemberJoined: 'Member joined.',
  MemberRoleChanged: 'Role changed.',
  MemberRoleManaged: 'Role set by the issuer.',
  MemberRemoved: 'Member removed.',
  ApprovalRulesSet: 'Rules for approvals changed.',
  ChangeProposed: 'Change proposed.',
  ChangeApproved: 'Change approved.',
  ChangeApplied: 'Approved change made.',
  ChangeRefused: 'Proposed change refused.',
  ImportStarted: 'Import of another service begun.',
  ImportFinished: 'Import finished.',
  ImportUndone: 'Import taken back.',
  ClicksImported: 'Clicks imported that another service has counted.',
  LinkAddressAdded: 'Address added.',
  LinkAddressRemoved: 'Address removed.',
  LinkFramingChecked: 'Other destinations than before refuse to be shown in a frame.',
  DomainAliasesMadeExact: 'Aliases made exact: each is a whole path, compared as it is.',
  DomainVerified: 'Domain verified.',
  DomainUnverified: 'Domain no longer verified: its checks failed.',
  DomainReleased: 'Domain released: other accounts can verify its host.',
  WebhookSecretRotated: 'Secret of the webhook replaced.',
  WebhookEnabled: 'Webhook enabled.',
  AnswerGiven: 'Answered by a visitor.',
  AnswerErased: 'Answer of a visitor erased.',
  AddressBlocked: 'Blocked by the operator.',
  AddressUnblocked: 'Unblocked by the operator.',
}

/** `WebhookSecretRotated` becomes `Webhook secret rotated.`: for types that have no sentence. */
const humanize = (type: string) => {
  const words = type.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
}

/** Why a webhook was disabled, as a sentence. */
const stops: Readonly<Record<string, string>> = {
  owner: 'Webhook disabled.',
  gone: 'Webhook disabled: its receiver wants no more messages (410).',
  failing: 'Webhook disabled: deliveries have failed for three days.',
}

const past = { Created: 'created', Updated: 'changed', Deleted: 'deleted', Restored: 'restored' } as const

/** Returns what happened, as a sentence. */
export const sentenceOf = (event: { readonly stream: string } & LogEvent, first: boolean): string => {
  const { stream, type, data } = event
  if (type === 'Unknown') return 'Changed by a newer version of Linkledger.'
  const label = kindOf(parseStreamId(stream).kind)?.label
  const to = 'to' in data && typeof data.to === 'number' ? data.to : undefined
  if (type === 'ApiKeyIssued') return first ? 'First API key issued.' : 'All API keys replaced by a new one.'
  if (type === 'ItemAssignedToChannel') return `Added to channel ${data.channel}.`
  if (type === 'ItemRemovedFromChannel') return `Removed from channel ${data.channel}.`
  if ((type === 'ApiKeyAdded' || type === 'ApiKeyAddedByMember') && data.replaces !== undefined)
    return `API key created in place of key ${data.replaces}.`
  if (type === 'WebhookReplayed') return `Webhook continues at event ${data.from}.`
  if (type === 'WebhookPartReplayed') return `Webhook sends events ${data.from} to ${data.until - 1} again.`
  if (type === 'WebhookDisabled') return stops[data.reason] ?? 'Webhook disabled.'
  const [, verb] = /(Created|Updated|Deleted|Restored)$/.exec(type) ?? []
  const done = verb === undefined ? undefined : past[verb as keyof typeof past]
  if (label !== undefined && to !== undefined) {
    const back =
      'deleted' in data && data.deleted ? `restored, as it was at revision ${to}` : `set back to revision ${to}`
    return `${type.startsWith('ApiKey') ? 'API key' : label} ${back}.`
  }
  return sentences[type] ?? (label === undefined || done === undefined ? humanize(type) : `${label} ${done}.`)
}

const blocked = (value: boolean): readonly FieldChange[] => [{ field: 'blocked', old: !value, new: value }]

/**
 * Returns the changes that an event makes without a state of its own resource; undefined: those of the states before
 * and after it.
 */
export const changesOfEvent = ({ type, data }: LogEvent): readonly FieldChange[] | undefined => {
  switch (type) {
    case 'ItemAssignedToChannel':
      return [{ field: 'channel', old: null, new: data.channel }]
    case 'ItemRemovedFromChannel':
      return [{ field: 'channel', old: data.channel, new: null }]
    case 'AddressBlocked':
      return blocked(true)
    case 'AddressUnblocked':
      return blocked(false)
    case 'AnswerGiven':
    case 'AnswerErased':
    case 'Unknown':
      return []
    default:
      return undefined
  }
}

/** Returns the changes from one state of a resource to the next. `about` names the API key, for the events of one. */
export const changesOfStep = (
  { type, id }: About,
  { before, after }: { readonly before: unknown; readonly after: unknown },
  originOf: OriginOf,
): readonly FieldChange[] => {
  if (type === 'key') {
    const fields = (state: unknown) => keyFieldsOf(state as Account, id)
    return changesBetween(fields(before), fields(after))
  }
  if (type === 'member') {
    const fields = (state: unknown) => {
      const { domains = null, role = null } = (state as Team).members[id] ?? {}
      return { role, domains }
    }
    return changesBetween(fields(before), fields(after))
  }
  const kind = kindAt(type)
  const of = kind && historyOf(kind)
  if (!of) return []
  const changes = changesBetween(fieldsIn(of, before as object, originOf), fieldsIn(of, after as object, originOf))
  const created = (before as { readonly status?: string }).status === 'none'
  return created ? changes.map((change) => ({ ...change, old: null })) : changes
}

/** Fields that name a resource. */
const naming = ['name', 'title', 'alias', 'slug', 'username']

/** Returns the names that the resource of an event had before it. */
export const namesBefore = (
  { event: { stream }, before }: { readonly event: { readonly stream: string }; readonly before: unknown },
  { type, id }: About,
  originOf: OriginOf,
): readonly unknown[] => {
  const of = historyOf(parseStreamId(stream).kind)
  if (!of || (before as { readonly status?: string }).status === 'none') return []
  const fields = type === 'key' ? keyFieldsOf(before as Account, id) : fieldsIn(of, before as object, originOf)
  return (type === 'domain' ? ['domain'] : naming).map((name) => fields[name])
}
