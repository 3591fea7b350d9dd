import type { Keyring } from '../security/seal.ts'
import { type EventName, Metadata, nameOfEvent, type New, type Recorded } from './event.ts'
import { type DomainEvent, type EventType, events, type LogEvent, outlines } from './index.ts'
import {
  erasesStream,
  hasOwnKey,
  hasSealedFields,
  type OpeningKeys,
  sealedRequest,
  sealFields,
  sealRequest,
  unsealFields,
  unsealRequest,
} from './sealing.ts'
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
  // not a property: what is stored must not get into a log of the process
  readonly #raw: Raw
  constructor(raw: Raw, cause: unknown) {
    const { position, stream, revision, type } = raw
    super(`event ${position} (${type}, ${stream}@${revision}) cannot be read: ${String(cause)}`, { cause })
    this.position = position
    this.event = nameOfEvent(raw)
    this.#raw = raw
  }

  /** Returns what can be read of the event, without its data. */
  unknown(): Recorded<UnknownEvent> {
    return asUnknown(this.#raw)
  }
}

const isKnownType = (type: string): type is EventType => Object.hasOwn(events, type)

/** Translates between events as the program uses them and as the log stores them. */
export interface Codec {
  /** Returns the data and metadata of an event of a stream as JSON. Throws `NoAccountKey`. */
  readonly encode: (
    event: New<DomainEvent>,
    stream: string,
  ) => Promise<{ readonly data: string; readonly metadata: string }>
  /**
   * Returns what only a newer release can read as an `UnknownEvent`. Of what this release writes, only the outline is
   * validated when the log is `trusted`. Throws `Unreadable`.
   */
  readonly decode: (raws: readonly Raw[], trusted?: boolean) => Promise<Recorded<LogEvent>[]>
}

/** The codec of the service: it seals personal fields, and validates events when they are read. */
export const codec = (keyring: Keyring): Codec => ({
  encode: async (event, stream) => ({
    data: JSON.stringify(await sealFields(keyring, event, stream)),
    metadata: JSON.stringify({ ...(await sealRequest(keyring, event)), v: versionOf(event.type) }),
  }),
  decode: async (raws, trusted = false) => {
    const read = raws.map((raw) => asKnown(raw) ?? asUnknown(raw))
    const sealed = read.flatMap((raw) => {
      const { account } = raw.metadata
      if (isUnknown(raw) || account === null) return []
      return hasSealedFields(raw.type) || raw.request !== undefined ? [{ ...raw, account }] : []
    })
    const keys = await readKeys(keyring, sealed)
    // a key is destroyed after the event: the process that does it may have been killed between the two
    const erasedStreams = new Set(
      read.flatMap((raw) => (!isUnknown(raw) && erasesStream(raw.type) ? [raw.stream] : [])),
    )
    const erased = new Set<number | null>()
    return read.map((raw) => {
      if (isUnknown(raw)) return raw
      const { account } = raw.metadata
      if (raw.type === 'AccountErased') erased.add(account)
      // the key may be in the cache of this process a moment longer
      if (account === null || erased.has(account)) return open(raw, { own: undefined, account: undefined }, trusted)
      const own = erasedStreams.has(raw.stream) ? null : keys.own.get(raw.stream)
      return open(raw, { own, account: keys.accounts.get(account) }, trusted)
    })
  },
})

/** Reads the keys that some events may be sealed under. */
const readKeys = async (
  keyring: Keyring,
  sealed: readonly { readonly type: EventType; readonly stream: string; readonly account: number }[],
) => {
  const ids = [...new Set(sealed.map(({ account }) => account))]
  const owning = sealed.filter(({ type }) => hasOwnKey(type))
  return {
    accounts: ids.length > 0 ? await keyring.forOpening(ids) : new Map<number, Buffer>(),
    own: owning.length > 0 ? await keyring.ofStreams.forOpening(owning) : new Map<string, Buffer | null>(),
  }
}

/** Returns an event of a type and version that this release knows, still sealed and in the shape it was stored in. */
const asKnown = (raw: Raw) => {
  const { type } = raw
  return isKnownType(type) && storedVersion(raw) <= versionOf(type)
    ? { ...raw, type, metadata: parseMetadata(raw), request: sealedRequest(raw.metadata) }
    : undefined
}
type Known = NonNullable<ReturnType<typeof asKnown>>

const open = ({ request, ...raw }: Known, keys: OpeningKeys, trusted: boolean) => {
  const { type, metadata } = raw
  const outline = trusted && metadata.v === versionOf(type) ? outlines[type] : undefined
  try {
    const current = upcast(type, metadata.v, raw.data)
    return {
      ...raw,
      metadata: request === undefined ? metadata : unsealRequest(type, metadata, request, keys.account),
      data: (outline ?? events[type]).parse(unsealFields(type, current, metadata.account, keys)),
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

const parseMetadata = (raw: Raw) => {
  const metadata = Metadata.safeParse(raw.metadata)
  if (!metadata.success) throw new Unreadable(raw, metadata.error)
  return metadata.data
}

/** Decodes the events before the first unreadable one, whose error is returned as `problem`. */
export const readable = async (
  codec: Codec,
  raws: readonly Raw[],
  trusted?: boolean,
): Promise<{ readonly events: Recorded<LogEvent>[]; readonly problem: Unreadable | undefined }> => {
  try {
    return { events: await codec.decode(raws, trusted), problem: undefined }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    const before = raws.filter(({ position }) => position < error.position)
    return { events: await codec.decode(before, trusted), problem: error }
  }
}
