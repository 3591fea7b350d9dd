import { type Keyring, type SealedField, sealedFields, sealPersonal, unsealPersonal } from '../security/seal.ts'
import { Unavailable } from '../lib/unavailable.ts'
import type { Metadata, New } from './event.ts'
import { type DomainEvent, type EventType, events, sealedGroups as groups } from './index.ts'
import type { SealedGroup } from './owned.ts'

/** An event carries personal data, but its account has no key to seal it under: it was erased a moment ago. */
export class NoAccountKey extends Unavailable {
  override readonly name = 'NoAccountKey'
}

type Values = Readonly<Record<string, unknown>>

const single = new Map<string, readonly SealedField[]>(
  Object.entries(events).map(([type, schema]) => [type, sealedFields(schema)]),
)
/** where the fields of `groups` are stored, sealed */
const place = 'personal'

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/
/** Whether this program has made the id of a request, which says nothing then: a client cannot choose a space. */
const isOwnRequest = (id: string) => id === '' || id.includes(' ') || uuid.test(id)

const context = (account: number, type: string, field: string) => `${account}/${type}/${field}`

/** Returns whether events of the type have sealed fields. */
export const hasSealedFields = (type: EventType): boolean => type in groups || (single.get(type) ?? []).length > 0
/** Returns the fields of an event, and of its changes, that are sealed. */
export const sealedIn = (type: EventType): readonly string[] => [
  ...(single.get(type) ?? []).map(({ name }) => name),
  ...Object.keys(groups[type]?.blank ?? {}),
]
/** Returns whether the stream of such an event has a key of its own: what it says can be erased alone. */
export const hasOwnKey = (type: EventType): boolean => type === 'AnswerGiven' || type === 'ReportSent'
/** Returns whether an event erases what its stream says. */
export const erasesStream = (type: EventType): boolean => type === 'AnswerErased' || type === 'ReportErased'

const without = (values: Values, names: readonly string[]) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)))
const only = (values: Values, names: readonly string[]) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)))
const partOf = (data: Values, { inside }: SealedGroup) => (inside === undefined ? data : (data[inside] as Values))
const withPart = (data: Values, { inside }: SealedGroup, part: Values): Values =>
  inside === undefined ? part : { ...data, [inside]: part }

const blankOf = ({ partial, blank }: SealedGroup): Values => (partial ? {} : blank)
const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/**
 * Moves the fields that are sealed groups into one text; in their place, a reader that does not know it finds the blank
 * ones. Where all of them are blank, there is nothing to seal.
 */
const joined = (type: EventType, data: Values): Values => {
  const group = groups[type]
  if (!group) return data
  const part = partOf(data, group)
  const fields = Object.keys(group.blank)
  const personal = only(part, fields)
  if (Object.entries(personal).every(([name, value]) => isSame(value, group.blank[name]))) return data
  const open = { ...without(part, fields), ...blankOf(group) }
  return { ...withPart(data, group, open), [place]: JSON.stringify(personal) }
}

/**
 * The inverse of `joined`. Without the key the fields are blank; those that an older release has stored in clear stay
 * as they are.
 */
const split = (type: EventType, data: Values): Values => {
  const group = groups[type]
  if (!group) return data
  const { [place]: text, ...rest } = data
  if (text === undefined) return rest
  const personal = typeof text === 'string' ? (JSON.parse(text) as Values) : blankOf(group)
  return withPart(rest, group, { ...without(partOf(rest, group), Object.keys(group.blank)), ...personal })
}

const fieldsOf = (type: EventType): readonly SealedField[] => [
  ...(single.get(type) ?? []),
  ...(type in groups ? [{ name: place, withoutKey: null }] : []),
]

const keyFor = (keyring: Keyring, type: EventType, account: number, stream: string) =>
  hasOwnKey(type) ? keyring.ofStreams.forSealing({ stream, account }) : keyring.forSealing(account)

/** Returns the data of an event of a stream as the log stores it. Throws `NoAccountKey`. */
export const sealFields = async (
  keyring: Keyring,
  { type, data, metadata: { account } }: New<DomainEvent>,
  stream: string,
) => {
  const values = joined(type, data)
  const fields = fieldsOf(type).filter(({ name }) => typeof values[name] === 'string')
  if (fields.length === 0) return values
  const key = account === null ? undefined : await keyFor(keyring, type, account, stream)
  if (account === null || !key) throw new NoAccountKey(`${type} carries personal data, but its account has no key`)
  const texts = fields.map(({ name }) => [name, sealPersonal(key, context(account, type, name), String(values[name]))])
  return { ...values, ...(Object.fromEntries(texts) as object) }
}

/** Returns the metadata of an event as the log stores them. The id of a request is any text that its client chose. */
export const sealRequest = async (keyring: Keyring, { type, metadata }: New<DomainEvent>): Promise<Metadata> => {
  const { account, request } = metadata
  if (account === null || isOwnRequest(request)) return metadata
  const key = await keyring.forSealing(account)
  const sealed = key && { [place]: sealPersonal(key, context(account, type, 'request'), request) }
  return { ...metadata, request: '', ...sealed }
}

/** Returns the sealed id of a request in stored metadata, undefined when there is none. */
export const sealedRequest = (metadata: unknown): string | undefined => {
  const text = (metadata as Values | null | undefined)?.[place]
  return typeof text === 'string' ? text : undefined
}

/** The inverse of `sealRequest`, given the key of the account. */
export const unsealRequest = (type: EventType, metadata: Metadata, text: string, key: Buffer | undefined): Metadata => {
  const { account } = metadata
  if (account === null) return metadata
  return { ...metadata, request: unsealPersonal(key, context(account, type, 'request'), text) ?? '' }
}

/** The keys that an event may be sealed under: that of its stream, null where it was destroyed, and its account's. */
export interface OpeningKeys {
  readonly own: Buffer | null | undefined
  readonly account: Buffer | undefined
}
/** Without a mark of its destruction, a text from before streams had keys opens with the key of the account. */
const unsealText = ({ own, account }: OpeningKeys, place: string, text: string) => {
  const found = own === null ? null : unsealPersonal(own, place, text)
  return found ?? unsealPersonal(own === null ? undefined : account, place, text)
}

/** The inverse of `sealFields`, given the keys that there are. */
export const unsealFields = (type: EventType, data: unknown, account: number | null, keys: OpeningKeys) => {
  const fields = fieldsOf(type)
  if (fields.length === 0 || account === null) return data
  const copy = { ...(data as Record<string, unknown>) }
  for (const { name, withoutKey } of fields) {
    const text = copy[name]
    if (typeof text === 'string') copy[name] = unsealText(keys, context(account, type, name), text) ?? withoutKey
  }
  return split(type, copy)
}
