import pLimit from 'p-limit'
import type { Handler } from '../../commands/handle.ts'
import type { Step } from '../../commands/steps.ts'
import type { LogEvent } from '../../events/index.ts'
import type { Ordinals } from '../../events/ordinals.ts'
import { parseStreamId } from '../../events/streams.ts'
import { turnsForAll } from '../../lib/async/pause.ts'
import { timestamp } from '../../lib/fields.ts'
import type { HistoryRow } from '../../queries/history/history.ts'
import type { Listed, Position } from '../../queries/page.ts'
import type { Reader } from '../../queries/reader.ts'
import { channelItem } from '../../commands/links/channel.ts'
import { answer } from '../../commands/pages/answer.ts'
import { block } from '../../commands/operator/block.ts'
import { team } from '../../commands/accounts/team.ts'
import { createRoom } from '../api/list/room.ts'
import { type Acting, actingOf, actorOf, namesOfActors, type PresentedActor } from './actors.ts'
import { aboutOf, type About, changesOfEvent, changesOfStep, sentenceOf } from './events.ts'
import type { FieldChange, OriginOf } from './fields.ts'
import { hiddenStreams, type Seen, withoutContents } from './hidden.ts'
import { historyOf, type KindHistory } from './kinds.ts'

/** Sources of histories. */
export interface HistorySources {
  readonly reader: Reader
  readonly ordinals: Ordinals
  readonly handler: Pick<Handler, 'steps'>
  readonly originOf: OriginOf
  /** for a caller who sees a part of the account; undefined: all of it */
  readonly seen?: Seen | undefined
  /** for an operator, who may see the names of operators */
  readonly actorOf?: typeof actorOf
  /** aborts a search when its client no longer waits */
  readonly signal?: AbortSignal
  /** counts what a search reads */
  readonly onRead?: (read: unknown) => void
}

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
  /** its group, where groups are listed */
  readonly group?: string | null
  readonly events?: number
}

/** Streams that are no resource. */
const stateless: Readonly<Record<string, unknown>> = { channelitem: channelItem, answer, block, team }

/** The event of a history as shown, and the states of its resource before and after it. */
export interface Found extends Pick<HistoryEntry, 'message' | 'resource' | 'changes'> {
  readonly step: Step<unknown>
  /** whether the caller sees nothing else of the resource than these changes */
  readonly isHidden: boolean
}

/** A stream of an unknown kind is read without a state. */
const deciderOf = (kind: string) =>
  (historyOf(kind)?.decider ??
    stateless[kind] ?? {
      kind,
      version: 0,
      initialState: undefined,
      evolve: () => undefined,
    }) as KindHistory['decider']

/** Reads the events at some revisions of a stream, with their changes if those are shown. */
const readStream = async function* (
  stream: string,
  revisions: Iterable<number>,
  { handler, originOf, onRead, withoutChanges, isHidden }: ReadSources & Pick<Found, 'isHidden'>,
): AsyncGenerator<Found> {
  const { kind, id } = parseStreamId(stream)
  const wanted = new Set(revisions)
  const [from, upTo] = [Math.min(...wanted), Math.max(...wanted)]
  for await (const step of handler.steps(deciderOf(kind), id, { from, upTo, onRead })) {
    const { event } = step
    const revision = Number(event.revision)
    if (!wanted.has(revision)) continue
    const resource = aboutOf(event)
    const ofStates = () => (historyOf(kind) || kind === 'team' ? changesOfStep(resource, step, originOf) : [])
    const all = withoutChanges ? [] : (changesOfEvent(event) ?? ofStates())
    const changes = isHidden ? withoutContents(all) : all
    yield { step, resource, changes, message: sentenceOf(event, revision <= 1), isHidden }
  }
}

/** number of streams to read concurrently; the store combines their reads */
const streamsAtATime = 32

/** How events are read. */
interface ReadSources extends HistorySources {
  readonly withoutChanges?: boolean
  /** Whether there is still room for the event of a row, by its place among the rows. */
  readonly hasRoom?: (row: number) => boolean
}

/**
 * Calls `use` with the event of each row. Reads each stream once, from a snapshot before the events: former values
 * follow from earlier events. Yields to other requests in between.
 */
export const forEachFound = async (
  rows: readonly HistoryRow[],
  sources: ReadSources,
  use: (found: Found) => void,
): Promise<void> => {
  const { signal, hasRoom = () => true, reader, seen } = sources
  const wanted = new Map<string, Map<number, number>>()
  for (const [row, { stream, revision }] of rows.entries())
    wanted.set(stream, (wanted.get(stream) ?? new Map()).set(revision, row))
  const hidden = await hiddenStreams(rows, reader, seen)
  const [limit, looked] = [pLimit(streamsAtATime), turnsForAll()]
  const read = async (stream: string, places: ReadonlyMap<number, number>) => {
    const revisions = [...places].filter(([, row]) => hasRoom(row)).map(([revision]) => revision)
    if (revisions.length === 0) return
    for await (const found of readStream(stream, revisions, { ...sources, isHidden: hidden.has(stream) })) {
      await looked()
      signal?.throwIfAborted()
      use(found)
    }
  }
  await Promise.all([...wanted].map(([stream, places]) => limit(() => read(stream, places))))
}

/** Returns the name of an event of a history. */
export const typeOf = ({ type, data }: LogEvent): string => (type === 'Unknown' ? data.type : type)

/** An entry before its numbers and names are looked up. */
type Read = Omit<HistoryEntry, 'event' | 'actor'> & { readonly acting: Acting }

const readOf = ({ step: { event }, resource, changes, message }: Found): Read => ({
  revision: Number(event.revision),
  time: timestamp(event.at),
  acting: actingOf(event),
  request: event.metadata.request,
  type: typeOf(event),
  resource,
  changes,
  message,
})

/** The events to read: by default all, with all columns. */
export interface HistoryPage {
  readonly listed: Pick<Listed<HistoryRow>, 'rows' | 'next'>
  readonly placeOf: (row: HistoryRow) => Position
  readonly shown: ReadonlySet<string>
}

/**
 * Returns the events of the rows of a page, in their order, as many as fit into an answer. States are not kept: each
 * may have 64 KB.
 */
export const readPage = async (
  { listed, placeOf, shown }: HistoryPage,
  sources: HistorySources,
  most?: number,
): Promise<Pick<Listed<HistoryEntry>, 'rows' | 'next' | 'cut'>> => {
  const { reader, ordinals, actorOf: present = actorOf } = sources
  const places = new Map(listed.rows.map(({ stream, revision }, i) => [`${stream}@${revision}`, i]))
  const withoutChanges = shown.size > 0 && !shown.has('changes')
  const room = createRoom<Read>((entry) => entry, most)
  await forEachFound(listed.rows, { ...sources, withoutChanges, hasRoom: room.hasRoom }, (one) => {
    const { stream, revision } = one.step.event
    room.put(places.get(`${stream}@${revision}`)!, readOf(one))
  })
  const { rows, ...further } = room.rows(listed, placeOf)
  const found = rows.map((_, i) => room.get(i))
  const [names, numbers] = await Promise.all([
    namesOfActors(
      reader,
      found.flatMap((one) => one?.acting ?? []),
    ),
    ordinals.of(rows.map(({ position }) => position)),
  ])
  const entries = rows.flatMap(({ position, group = null, events }, i): readonly HistoryEntry[] => {
    const one = found[i]
    if (!one) return []
    const { acting, ...entry } = one
    const counted = events === undefined ? {} : { group, events }
    return [{ event: numbers.get(position) ?? null, ...entry, actor: present(acting, names), ...counted }]
  })
  return { ...further, rows: entries }
}

/** Returns the events of all rows, in their order, for a program on this machine. */
export const readHistory = async (
  rows: readonly HistoryRow[],
  sources: HistorySources,
): Promise<readonly HistoryEntry[]> =>
  (await readPage({ listed: { rows }, placeOf: () => [], shown: new Set() }, sources, Infinity)).rows
