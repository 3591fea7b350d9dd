import { Metadata, type New, type Recorded } from './event.ts'
import { type DomainEvent, type EventType, events } from './index.ts'
import { type Keyring, personalFields, sealPersonal, unsealPersonal } from '../security/seal.ts'

/** An event as an engine holds it: JSON, personal fields sealed. */
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

/** An event of the log that this program cannot read, though it knows its type. */
export class Unreadable extends Error {
  readonly position: bigint
  constructor({ position, stream, revision, type }: Raw, cause: unknown) {
    super(`event ${position} (${type}, ${stream}@${revision}) cannot be read: ${String(cause)}`, { cause })
    this.position = position
  }
}

const personal = new Map<string, readonly string[]>(
  Object.entries(events).map(([type, schema]) => [type, personalFields(schema)]),
)
const context = (account: number, type: string, field: string) => `${account}/${type}/${field}`
const known = (type: string): type is EventType => Object.hasOwn(events, type)

/** Between events as the program knows them and as the log holds them. */
export interface Codec {
  readonly encode: (event: New<DomainEvent>) => Promise<{ readonly data: string; readonly metadata: string }>
  /** Types this program does not know yet (a newer one wrote them) are left out. Throws `Unreadable`. */
  readonly decode: (raws: readonly Raw[]) => Promise<Recorded<DomainEvent>[]>
}

export const codec = (keyring: Keyring): Codec => {
  const sealed = async ({ type, data, metadata }: New<DomainEvent>) => {
    const said = data as Readonly<Record<string, unknown>>
    const fields = (personal.get(type) ?? []).filter((field) => typeof said[field] === 'string')
    if (fields.length === 0) return data
    const { account } = metadata
    const key = account === null ? undefined : await keyring.forSealing(account)
    if (account === null || !key) throw new Error(`${type} carries personal data, but its account has no key`)
    const sealedFields = fields.map((field) => [
      field,
      sealPersonal(key, context(account, type, field), String(said[field])),
    ])
    return { ...data, ...(Object.fromEntries(sealedFields) as object) }
  }

  const opened = (type: EventType, data: unknown, account: number | null, keys: ReadonlyMap<number, Buffer>) => {
    const fields = personal.get(type) ?? []
    if (fields.length === 0 || account === null) return data
    const key = keys.get(account)
    const copy = { ...(data as Record<string, unknown>) }
    for (const field of fields) {
      const text = copy[field]
      if (typeof text === 'string') copy[field] = unsealPersonal(key, context(account, type, field), text)
    }
    return copy
  }

  return {
    encode: async (event) => ({ data: JSON.stringify(await sealed(event)), metadata: JSON.stringify(event.metadata) }),
    decode: async (raws) => {
      const ours = raws.flatMap((raw) => (known(raw.type) ? [{ ...raw, type: raw.type, metadata: parse(raw) }] : []))
      const accounts = ours.flatMap(({ type, metadata: { account } }) =>
        account !== null && personal.get(type)?.length ? [account] : [],
      )
      const keys = accounts.length > 0 ? await keyring.forOpening([...new Set(accounts)]) : new Map<number, Buffer>()
      return ours.map((raw) => {
        try {
          const data = events[raw.type].parse(opened(raw.type, raw.data, raw.metadata.account, keys))
          return { ...raw, data } as Recorded<DomainEvent>
        } catch (error) {
          throw new Unreadable(raw, error)
        }
      })
    },
  }
}

/** Leaves everything as the log holds it, sealed fields and all: for copying a log. */
export const asStored: Codec = {
  encode: async ({ data, metadata }) => ({ data: JSON.stringify(data), metadata: JSON.stringify(metadata) }),
  // what stands in a log was checked when it was written
  decode: async (raws) => raws as Recorded<DomainEvent>[],
}

const parse = (raw: Raw) => {
  const metadata = Metadata.safeParse(raw.metadata)
  if (!metadata.success) throw new Unreadable(raw, metadata.error)
  return metadata.data
}

/** The events up to the first that cannot be read. */
export const readable = async (codec: Codec, raws: readonly Raw[]) => {
  try {
    return { events: await codec.decode(raws), problem: undefined }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    const before = raws.filter(({ position }) => position < error.position)
    return { events: await codec.decode(before), problem: error }
  }
}
