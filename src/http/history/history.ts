import { setImmediate as nextTurn } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Handler } from '../../commands/handle.ts'
import type { Step } from '../../commands/steps.ts'
import type { Actor } from '../../events/event.ts'
import type { LogEvent } from '../../events/index.ts'
import type { Ordinals } from '../../events/ordinals.ts'
import { parseStreamId } from '../../events/streams.ts'
import { turnTimer } from '../../lib/async/pause.ts'
import { timestamp } from '../../lib/fields.ts'
import { type HistoryRow, namesOfKeys } from '../../queries/history/history.ts'
import type { Reader } from '../../queries/reader.ts'
import { channelItem } from '../../commands/links/channel.ts'
import { answer } from '../../commands/pages/answer.ts'
import { block } from '../../commands/operator/block.ts'
import { aboutOf, type About, changesOfEvent, changesOfStep, sentenceOf } from './events.ts'
import type { FieldChange, OriginOf } from './fields.ts'
import { historyOf, type KindHistory } from './kinds.ts'

/** What histories are made of. */
export interface HistorySources {
  readonly reader: Reader
  readonly ordinals: Ordinals
  readonly handler: Pick<Handler, 'steps'>
  readonly originOf: OriginOf
  /** for an operator, who may see the names of operators */
  readonly actorOf?: typeof actorOf
  /** ends a search whose answer nobody waits for any more */
  readonly signal?: AbortSignal
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

/** What a history shows of an event, and the states of its resource before and after it. */
export interface Found extends Pick<HistoryEntry, 'message' | 'resource' | 'changes'> {
  readonly step: Step<unknown>
}

/** A kind of stream that this module knows nothing about is read without a state. */
const deciderOf = (kind: string) =>
  (historyOf(kind)?.decider ??
    stateless[kind] ?? {
      kind,
      version: 0,
      initialState: undefined,
      evolve: () => undefined,
    }) as KindHistory['decider']

/** Reads the events at some revisions of a stream, with what they changed. */
const readStream = async function* (
  stream: string,
  revisions: ReadonlySet<number>,
  { handler, originOf }: HistorySources,
): AsyncGenerator<Found> {
  const { kind, id } = parseStreamId(stream)
  const [from, upTo] = [Math.min(...revisions), Math.max(...revisions)]
  for await (const step of handler.steps(deciderOf(kind), id, { from, upTo })) {
    const { event } = step
    const revision = Number(event.revision)
    if (!revisions.has(revision)) continue
    const resource = aboutOf(event)
    const changes = changesOfEvent(event) ?? (historyOf(kind) ? changesOfStep(resource, step, originOf) : [])
    yield { step, resource, changes, message: sentenceOf(event, revision <= 1) }
  }
}

/** Streams that are read at the same time; the store combines their reads. */
const streamsAtATime = 32

/**
 * Calls `use` with the event of each row. Each stream is read once, from a snapshot before them: what a value was
 * follows from the events before.
 */
export const forEachFound = async (
  rows: readonly HistoryRow[],
  sources: HistorySources,
  use: (found: Found) => void,
): Promise<void> => {
  const wanted = new Map<string, Set<number>>()
  for (const { stream, revision } of rows) wanted.set(stream, (wanted.get(stream) ?? new Set()).add(revision))
  const [limit, isLong] = [pLimit(streamsAtATime), turnTimer()]
  const read = async (stream: string, revisions: ReadonlySet<number>) => {
    for await (const found of readStream(stream, revisions, sources)) {
      sources.signal?.throwIfAborted()
      if (isLong()) await nextTurn()
      use(found)
    }
  }
  await Promise.all([...wanted].map(([stream, revisions]) => limit(() => read(stream, revisions))))
}

/** Returns the name of an event of a history. */
export const typeOf = ({ type, data }: LogEvent): string => (type === 'Unknown' ? data.type : type)

/** Returns the events of some rows, in their order. */
export const readHistory = async (
  rows: readonly HistoryRow[],
  sources: HistorySources,
): Promise<readonly HistoryEntry[]> => {
  const { reader, ordinals, actorOf: present = actorOf } = sources
  const found = new Map<string, Found>()
  await forEachFound(rows, sources, (one) => {
    const { stream, revision } = one.step.event
    found.set(`${stream}@${revision}`, one)
  })
  const keys = new Set([...found.values()].flatMap(({ step }) => step.event.metadata.actor.key ?? []))
  const [names, numbers] = await Promise.all([
    namesOfKeys(reader, [...keys]),
    ordinals.of(rows.map(({ position }) => position)),
  ])
  return rows.flatMap(({ position, stream, revision }) => {
    const one = found.get(`${stream}@${revision}`)
    if (!one) return []
    const { step, ...shown } = one
    const { event } = step
    return [
      {
        event: numbers.get(position) ?? null,
        revision,
        time: timestamp(event.at),
        actor: present(event.metadata.actor, names),
        request: event.metadata.request,
        type: typeOf(event),
        ...shown,
      },
    ]
  })
}
