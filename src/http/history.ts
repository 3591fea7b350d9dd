import pLimit from 'p-limit'
import type { Handler } from '../commands/handle.ts'
import type { Actor, Recorded } from '../events/event.ts'
import type { LogEvent } from '../events/index.ts'
import type { Ordinals } from '../events/ordinals.ts'
import { parseStreamId } from '../events/streams.ts'
import { timestamp } from '../lib/fields.ts'
import { type HistoryRow, namesOfKeys } from '../queries/history.ts'
import type { Reader } from '../queries/reader.ts'
import { channelItem } from '../commands/channel.ts'
import { answer } from '../commands/answer.ts'
import { block } from '../commands/block.ts'
import {
  aboutOf,
  type About,
  changesOfEvent,
  changesOfStep,
  type ResourceKind,
  resourceKinds,
  sentenceOf,
} from './historyevents.ts'
import type { FieldChange, OriginOf } from './historyfields.ts'

/** What histories are made of. */
export interface HistorySources {
  readonly reader: Reader
  readonly ordinals: Ordinals
  readonly handler: Pick<Handler, 'steps'>
  readonly originOf: OriginOf
  /** for an operator, who may see the names of operators */
  readonly actorOf?: typeof actorOf
}

/** Who caused an event. Of a key, its id and its name; the name of an operator is not for accounts. */
export interface PresentedActor {
  readonly kind: string
  readonly key?: number
  readonly name?: string
}

type KeyNames = Awaited<ReturnType<typeof namesOfKeys>>

/** Returns who caused an event, given the names of keys by their public ids. */
export const actorOf = ({ kind, key }: Actor, names: KeyNames): PresentedActor => {
  const known = key === undefined ? undefined : names.get(key)
  return known ? { kind, key: known.number, name: known.name } : { kind }
}

/** The same for an operator. */
export const operatorsOf: typeof actorOf = (actor, names) => ({
  ...actorOf(actor, names),
  ...(actor.name === undefined ? {} : { name: actor.name }),
})

/** An event of a history. */
export interface HistoryEntry {
  /** the ordinal of the event; null while it has none */
  readonly event: number | null
  readonly revision: number
  readonly time: string
  readonly actor: PresentedActor
  readonly request: string
  readonly type: string
  readonly message: string
  readonly resource: About
  readonly changes: readonly FieldChange[]
}

/** Streams whose events are shown without their states. */
const stateless: Readonly<Record<string, unknown>> = { channelitem: channelItem, answer, block }

type Found = Pick<HistoryEntry, 'message' | 'resource' | 'changes'> & { readonly event: Recorded<LogEvent> }

/** A kind of stream that this module knows nothing about is read without a state. */
const deciderOf = (kind: string) =>
  (resourceKinds[kind]?.decider ??
    stateless[kind] ?? {
      kind,
      initialState: undefined,
      evolve: () => undefined,
    }) as ResourceKind['decider']

/** Reads the events at some revisions of a stream, with what they changed. */
const readStream = async (stream: string, revisions: ReadonlySet<number>, { handler, originOf }: HistorySources) => {
  const { kind, id } = parseStreamId(stream)
  const found: Found[] = []
  for await (const step of handler.steps(deciderOf(kind), id, Math.max(...revisions))) {
    const { event } = step
    const revision = Number(event.revision)
    if (!revisions.has(revision)) continue
    const resource = aboutOf(event)
    const changes = changesOfEvent(event) ?? (resourceKinds[kind] ? changesOfStep(resource, step, originOf) : [])
    found.push({ event, resource, changes, message: sentenceOf(event, revision <= 1) })
  }
  return found
}

/** Streams that are read at the same time; the store combines their reads. */
const streamsAtATime = 32

/** Returns the events of some rows, in their order. Each stream is read once, from its beginning: what a value was follows from the events before. */
export const readHistory = async (
  rows: readonly HistoryRow[],
  sources: HistorySources,
): Promise<readonly HistoryEntry[]> => {
  const { reader, ordinals, actorOf: present = actorOf } = sources
  const wanted = new Map<string, Set<number>>()
  for (const { stream, revision } of rows) wanted.set(stream, (wanted.get(stream) ?? new Set()).add(revision))
  const limit = pLimit(streamsAtATime)
  const read = await Promise.all(
    [...wanted].map(([stream, revisions]) => limit(() => readStream(stream, revisions, sources))),
  )
  const found = new Map(read.flat().map((one) => [`${one.event.stream}@${one.event.revision}`, one]))
  const keys = new Set([...found.values()].flatMap(({ event }) => event.metadata.actor.key ?? []))
  const [names, numbers] = await Promise.all([
    namesOfKeys(reader, [...keys]),
    ordinals.of(rows.map(({ position }) => position)),
  ])
  return rows.flatMap(({ position, stream, revision }) => {
    const one = found.get(`${stream}@${revision}`)
    if (!one) return []
    const { event, ...shown } = one
    return [
      {
        event: numbers.get(position) ?? null,
        revision,
        time: timestamp(event.at),
        actor: present(event.metadata.actor, names),
        request: event.metadata.request,
        type: event.type === 'Unknown' ? event.data.type : event.type,
        ...shown,
      },
    ]
  })
}
