import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { handler } from '../../src/commands/handle.ts'
import { codec, type Raw } from '../../src/events/codec.ts'
import type { Recorded } from '../../src/events/event.ts'
import { type DomainEvent, type EventType, events } from '../../src/events/index.ts'
import type { EventStore } from '../../src/events/store.ts'
import { isKnown } from '../../src/events/unknown.ts'
import { versionOf } from '../../src/events/upcast.ts'
import { projections } from '../../src/projections/index.ts'
import { changesOf } from '../../src/projections/engine/projection.ts'
import type { Keyring } from '../../src/security/seal.ts'
import type { Json } from './database.ts'
import { foldAll, hasFold } from './folds.ts'
import { readJson, readLines, releases, versions } from './release.ts'

/** The folder of the golden events: a file for each, which is never edited. */
export const goldenDir = join(releases, 'golden')

/** An event as the log stores it; its position is its place in the file. */
export type StoredEvent = Pick<Raw, 'stream' | 'id' | 'type' | 'at' | 'data' | 'metadata'>

/** What the program makes of the events of a file. */
export interface Outcome {
  /** the payload of the golden event, in the current shape of its type */
  readonly opened: Json
  /** states of the streams, by name */
  readonly folds: Json
  /** changes of rows, by projection */
  readonly projected: Json
}

export interface Golden extends Outcome {
  readonly type: EventType
  readonly version: number
  /** the golden event is the last one; those before it are what it needs */
  readonly events: readonly StoredEvent[]
}

export const goldenFiles = (): readonly string[] =>
  readdirSync(goldenDir)
    .filter((name) => name.endsWith('.json'))
    .sort()
export const readGolden = (name: string) => readJson<Golden>(goldenDir, name)

const keyOf = (name: number | string) => createHash('sha256').update(`golden ${name}`).digest()
/** The keys of golden events follow from the accounts and streams, so that they need no file. */
export const goldenKeyring: Keyring = {
  forSealing: async (account) => keyOf(account),
  forOpening: async (accounts) => new Map(accounts.map((account) => [account, keyOf(account)])),
  ofStreams: {
    forSealing: async ({ stream }) => keyOf(stream),
    forOpening: async (of) => new Map(of.map(({ stream }) => [stream, keyOf(stream)])),
  },
}
export const goldenCodec = codec(goldenKeyring)

/** Returns stored events as an engine that holds nothing else returns them. */
export const rawsOf = (stored: readonly StoredEvent[], first = 1): readonly Raw[] => {
  const revisions = new Map<string, bigint>()
  return stored.map((event, i) => {
    const revision = (revisions.get(event.stream) ?? -1n) + 1n
    revisions.set(event.stream, revision)
    return { ...event, revision, position: BigInt(first + i) }
  })
}

/** Returns a value as JSON keeps it. */
const asJson = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? part.toString() : part)))

/** Reads streams from decoded events. */
const readOnlyStore = (all: readonly Recorded<DomainEvent>[]) => {
  const inStream = (stream: string) => all.filter((event) => event.stream === stream)
  return {
    read: async function* (stream: string, from = 0n, limit = Infinity) {
      yield* inStream(stream).slice(Number(from), Number(from) + limit)
    },
    last: async (stream: string) => inStream(stream).at(-1),
  } as unknown as EventStore
}

/** Opens, folds and projects stored events. */
export const outcomeOf = async (stored: readonly StoredEvent[]): Promise<Outcome> => {
  const opened = (await goldenCodec.decode(rawsOf(stored))).filter(isKnown)
  if (opened.length < stored.length) throw new Error('a newer release has written some of these events')
  const store = readOnlyStore(opened)
  const streams = [...new Set(stored.map(({ stream }) => stream))].filter(hasFold)
  const projected = projections.flatMap((projection) => {
    const changes = 'on' in projection ? opened.flatMap((event) => changesOf(projection, event)) : []
    return changes.length === 0 ? [] : [[projection.name, changes] as const]
  })
  return {
    opened: asJson(opened.at(-1)!.data) as Json,
    folds: await foldAll({ store, handler: handler(store) }, streams),
    projected: asJson(Object.fromEntries(projected)) as Json,
  }
}

/** Returns the names of the optional fields of a payload, and of its `changes`, as the log stores them. */
const fieldsOf = (type: EventType): readonly string[] => {
  const { shape } = events[type]
  const changes = 'changes' in shape ? Object.keys((shape.changes as { shape: object }).shape) : []
  return [...Object.keys(shape), ...changes.map((name) => `changes.${name}`)]
}
const fieldsIn = ({ changes, ...data }: Json): readonly string[] => [
  ...Object.keys(data),
  ...(changes === undefined ? [] : ['changes']),
  ...Object.keys((changes as object | undefined) ?? {}).map((name) => `changes.${name}`),
]

/** What no golden event has: a type, a version, or fields. */
export interface Missing {
  readonly type: EventType
  readonly version: number
  readonly fields: readonly string[]
}

/** Returns the types, versions and fields that neither a golden event nor, of older versions, a stored release has. */
export const missingGolden = async (): Promise<readonly Missing[]> => {
  const golden = await Promise.all(goldenFiles().map(readGolden))
  const logs = await Promise.all(versions.map((version) => readLines(join(releases, version), 'log.jsonl')))
  const released = new Set(
    logs.flat().map(({ type, metadata }) => `${String(type)} ${(metadata as { readonly v?: number }).v ?? 1}`),
  )
  return (Object.keys(events) as EventType[]).flatMap((type) => {
    const own = golden.filter((one) => one.type === type)
    const has = new Set(own.flatMap(({ opened }) => fieldsIn(opened)))
    const current = versionOf(type)
    const older = Array.from({ length: current - 1 }, (_, i) => i + 1).filter(
      (version) => !released.has(`${type} ${version}`) && !own.some((one) => one.version === version),
    )
    const fields = fieldsOf(type).filter((name) => !has.has(name))
    const isMissing = !own.some(({ version }) => version === current)
    return [
      ...older.map((version) => ({ type, version, fields: [] })),
      ...(isMissing || fields.length > 0 ? [{ type, version: current, fields: isMissing ? [] : fields }] : []),
    ]
  })
}
