import { type Keyring, type SealedField, sealedFields, sealPersonal, unsealPersonal } from '../security/seal.ts'
import { type EventName, Metadata, nameOfEvent, type New, type Recorded } from './event.ts'
import { type DomainEvent, type EventType, events, type LogEvent } from './index.ts'
import { isUnknown, type UnknownEvent } from './unknown.ts'
import { upcast, versionOf } from './upcast.ts'

/** An event as an engine stores it: JSON, with sealed personal fields. */
export interface Raw {
  readonly id: string
  readonly stream: string
  readonly revision: bigint
  readonly position: bigint
  readonly at: string
  readonly type: string
  readonly data: unknown
  readonly metadata: unknown
}

/** An event of a known type that does not match its schema or cannot be unsealed. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
  readonly position: bigint
  readonly event: EventName
  constructor(raw: Raw, cause: unknown) {
    const { position, stream, revision, type } = raw
    super(`event ${position} (${type}, ${stream}@${revision}) cannot be read: ${String(cause)}`, { cause })
    this.position = position
    this.event = nameOfEvent(raw)
  }
}

/** An event carries personal data, but its account has no key to seal it under. */
export class NoAccountKey extends Error {
  override readonly name = 'NoAccountKey'
}

const sealed = new Map<string, readonly SealedField[]>(
  Object.entries(events).map(([type, schema]) => [type, sealedFields(schema)]),
)
const context = (account: number, type: string, field: string) => `${account}/${type}/${field}`
const isKnownType = (type: string): type is EventType => Object.hasOwn(events, type)

/** Translates between events as the program uses them and as the log stores them. */
export interface Codec {
  /** Returns the event's data and metadata as JSON. Throws `NoAccountKey`. */
  readonly encode: (event: New<DomainEvent>) => Promise<{ readonly data: string; readonly metadata: string }>
  /** Returns what only a newer release can read as an `UnknownEvent`. Throws `Unreadable`. */
  readonly decode: (raws: readonly Raw[]) => Promise<Recorded<LogEvent>[]>
}

/** The codec of the service: it seals personal fields, and validates events when they are read. */
export const codec = (keyring: Keyring): Codec => ({
  encode: async (event) => ({
    data: JSON.stringify(await sealFields(keyring, event)),
    metadata: JSON.stringify({ ...event.metadata, v: versionOf(event.type) }),
  }),
  decode: async (raws) => {
    const read = raws.map((raw) => asKnown(raw) ?? asUnknown(raw))
    const accounts = read.flatMap(({ type, metadata: { account } }) =>
      account !== null && sealed.get(type)?.length ? [account] : [],
    )
    const keys = accounts.length > 0 ? await keyring.forOpening([...new Set(accounts)]) : new Map<number, Buffer>()
    return read.map((raw) => (isUnknown(raw) ? raw : open(raw, keys)))
  },
})

/** Returns an event of a type and version that this release knows, still sealed and in the shape it was stored in. */
const asKnown = (raw: Raw) => {
  const { type } = raw
  return isKnownType(type) && storedVersion(raw) <= versionOf(type)
    ? { ...raw, type, metadata: parseMetadata(raw) }
    : undefined
}
type Known = NonNullable<ReturnType<typeof asKnown>>

const open = (raw: Known, keys: ReadonlyMap<number, Buffer>) => {
  const { type, metadata } = raw
  try {
    const current = upcast(type, metadata.v, raw.data)
    return {
      ...raw,
      data: events[type].parse(unsealFields(type, current, metadata.account, keys)),
    } as Recorded<DomainEvent>
  } catch (error) {
    throw new Unreadable(raw, error)
  }
}

const storedVersion = ({ metadata }: Raw) => Number((metadata as { readonly v?: unknown } | null | undefined)?.v ?? 1)

/** A newer release may also have changed the metadata: what cannot be read of it is left out. */
const asUnknown = (raw: Raw): Recorded<UnknownEvent> => {
  const { data: metadata } = Metadata.safeParse(raw.metadata)
  const version = storedVersion(raw)
  const none = { v: version, at: raw.at, account: null, actor: { kind: 'service' }, request: '', command: '' } as const
  return { ...raw, type: 'Unknown', data: { type: raw.type, version }, metadata: metadata ?? none }
}

/** Leaves events as the log stores them, with sealed fields: for copying a log without its keys. */
export const asStored: Codec = {
  encode: async ({ data, metadata }) => ({ data: JSON.stringify(data), metadata: JSON.stringify(metadata) }),
  // events of a log were validated when they were written
  decode: async (raws) => raws as Recorded<DomainEvent>[],
}

const sealFields = async (keyring: Keyring, { type, data, metadata: { account } }: New<DomainEvent>) => {
  const values = data as Readonly<Record<string, unknown>>
  const fields = (sealed.get(type) ?? []).filter(({ name }) => typeof values[name] === 'string')
  if (fields.length === 0) return data
  const key = account === null ? undefined : await keyring.forSealing(account)
  if (account === null || !key) throw new NoAccountKey(`${type} carries personal data, but its account has no key`)
  const texts = fields.map(({ name }) => [name, sealPersonal(key, context(account, type, name), String(values[name]))])
  return { ...data, ...(Object.fromEntries(texts) as object) }
}

const unsealFields = (type: EventType, data: unknown, account: number | null, keys: ReadonlyMap<number, Buffer>) => {
  const fields = sealed.get(type) ?? []
  if (fields.length === 0 || account === null) return data
  const key = keys.get(account)
  const copy = { ...(data as Record<string, unknown>) }
  for (const { name, withoutKey } of fields) {
    const text = copy[name]
    if (typeof text === 'string') copy[name] = unsealPersonal(key, context(account, type, name), text) ?? withoutKey
  }
  return copy
}

const parseMetadata = (raw: Raw) => {
  const metadata = Metadata.safeParse(raw.metadata)
  if (!metadata.success) throw new Unreadable(raw, metadata.error)
  return metadata.data
}

/** Decodes the events before the first unreadable one, whose error is returned as `problem`. */
export const readable = async (
  codec: Codec,
  raws: readonly Raw[],
): Promise<{ readonly events: Recorded<LogEvent>[]; readonly problem: Unreadable | undefined }> => {
  try {
    return { events: await codec.decode(raws), problem: undefined }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    const before = raws.filter(({ position }) => position < error.position)
    return { events: await codec.decode(before), problem: error }
  }
}
