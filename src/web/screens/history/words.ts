import { isOwned, kindAt, type Kinds, type ResourceKind } from '../../../events/kinds.ts'
import type { HistoryEntry } from '../../../http/history/contract/history.ts'
import { chosen } from '../../core/acting.ts'
import { t } from '../../core/alltexts.ts'
import { roleName } from '../accounts/role.ts'
import { fill, textFor } from '../../core/texts.ts'

const verbs = /(Created|Updated|Deleted|Restored)$/

/** What each kind of resource is called. */
export const kindNames = (): Readonly<Record<Kinds[ResourceKind]['path'] | 'key', string>> => t().history.kinds

/** Returns what a kind of resource is called. */
export const kindName = (kind: string): string => textFor(kindNames(), kind) ?? kind

/** Returns the text of an event in the language of the page, or the service's own text if there is none. */
export const whatHappened = ({
  type,
  resource,
  message,
}: Pick<HistoryEntry, 'type' | 'resource' | 'message'>): string => {
  const { did, done } = t().history
  const known = textFor(done, type)
  if (known !== undefined) return known
  const [, verb] = verbs.exec(type) ?? []
  if (verb === undefined) return message.replace(/\.$/, '')
  return fill(did[verb as keyof typeof did], { what: kindName(resource.type) })
}

/** Returns what a member is called; the sign-in of the account itself has no name in histories. */
export const nameOfMember = ({ id, name }: { readonly id: number; readonly name: string }): string =>
  name || (id === 1 ? t().history.someone.owner : t().history.someone.former)

/** Returns who did it. */
export const whoDid = ({ kind, name, member }: HistoryEntry['actor']): string => {
  const { someone } = t().history
  if (member) {
    const who = { name: member.name || someone.former, role: roleName(member.role) }
    return kind === 'key' ? fill(someone.keyOf, { ...who, key: name ?? '' }) : fill(someone.member, who)
  }
  if (kind === 'session' && chosen !== undefined) return someone.owner
  if (kind === 'operator' && name !== undefined) return fill(someone.operatorNamed, { name })
  if (kind === 'key') return fill(someone.key, { name: name ?? '' }).trim()
  return textFor(someone, kind) ?? someone.other
}

/** Returns what a field is called. */
export const fieldName = (field: string): string => textFor(t().history.fields, field) ?? field.replaceAll('_', ' ')

/**
 * What left no version: it changed no field. The secret of a webhook that was deleted is gone, so that it cannot come
 * back.
 */
const withoutVersion =
  /^(?:Item|Answer|Address|DomainVerified|DomainUnverified|WebhookReplayed|WebhookPartReplayed|WebhookDeleted)/

/** The versions of an account and its keys are restored on screens of their own. */
const hasVersions = (path: string) => {
  const kind = kindAt(path)
  return kind !== undefined && isOwned(kind)
}

/** Whether the version after an entry can be restored; after a deletion, the one before it. */
export const isRestorable = ({ type, resource }: Pick<HistoryEntry, 'type' | 'resource'>): boolean =>
  hasVersions(resource.type) && resource.id > 0 && !withoutVersion.test(type)

/** Whether an entry says that the resource is deleted: restoring it means to bring it back. */
export const isDeletion = ({ type }: Pick<HistoryEntry, 'type'>): boolean => type.endsWith('Deleted')
