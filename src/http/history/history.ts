import pLimit from 'p-limit'
import type { Handler } from '../../commands/handle.ts'
import type { Step } from '../../commands/steps.ts'
import type { Metadata } from '../../events/event.ts'
import type { LogEvent } from '../../events/index.ts'
import type { Ordinals } from '../../events/ordinals.ts'
import { parseStreamId } from '../../events/streams.ts'
import { turnsForAll } from '../../lib/async/pause.ts'
import { timestamp } from '../../lib/fields.ts'
import { type HistoryRow, namesOfKeys } from '../../queries/history/history.ts'
import { memberName, namesOfMembers } from '../../queries/accounts/member.ts'
import type { Listed, Position } from '../../queries/page.ts'
import type { Reader } from '../../queries/reader.ts'
import { channelItem } from '../../commands/links/channel.ts'
import { answer } from '../../commands/pages/answer.ts'
import { block } from '../../commands/operator/block.ts'
import { team } from '../../commands/accounts/team.ts'
import { createRoom } from '../api/list/room.ts'
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
  /** counts what a search reads */
  readonly onRead?: (read: unknown) => void
}

/**
 * Who caused an event. Of a key, its id and its name; of a member, their name, which is empty once they are erased, and
 * their role of then. The name of an operator is not for accounts.
 */
export interface PresentedActor {
  readonly kind: string
  readonly key?: number
  readonly name?: string
  readonly member?: PresentedMember
  readonly approved_by?: PresentedMember & { readonly proposal: number }
}
interface PresentedMember {
  readonly id: number
  readonly name: string
  readonly role: string
}

/** Who caused an event, and in which account. */
export type Acting = Pick<Metadata, 'actor' | 'account'>
export const actingOf = ({ metadata: { actor, account } }: { readonly metadata: Metadata }): Acting => ({
  actor,
  account,
})

/** Returns the names of the members among those who acted. */
export const membersOf = (reader: Reader, acting: readonly Acting[]) => {
  const members = acting.flatMap(({ actor: { member, approved }, account }) =>
    [member, approved?.member].flatMap((number) =>
      number === undefined ? [] : ([[memberName(account, number), { account, number }]] as const),
    ),
  )
  return namesOfMembers(reader, [...new Map(members).values()])
}

/** Returns what keys and members are called: keys by their public ids. */
export const namesOfActors = async (reader: Reader, acting: readonly Acting[]) => {
  const keys = new Set(acting.flatMap(({ actor }) => actor.key ?? []))
  const [ofKeys, members] = await Promise.all([namesOfKeys(reader, [...keys]), membersOf(reader, acting)])
  return { keys: ofKeys, members }
}
type Names = Awaited<ReturnType<typeof namesOfActors>>

/** Returns which member caused an event, and who has approved it. */
export const memberIn = ({ actor, account }: Acting, { members }: Pick<Names, 'members'>) => {
  const { member, role = '', approved } = actor
  const named = (id: number, held: string) => ({ id, name: members.get(memberName(account, id)) ?? '', role: held })
  return {
    ...(member !== undefined && { member: named(member, role) }),
    ...(approved && { approved_by: { ...named(approved.member, approved.role), proposal: approved.proposal } }),
  }
}

/** Returns who caused an event. */
export const actorOf = (acting: Acting, names: Names): PresentedActor => {
  const { kind, key } = acting.actor
  const known = key === undefined ? undefined : names.keys.get(key)
  return { kind, ...(known && { key: known.number, name: known.name }), ...memberIn(acting, names) }
}

/** The same for an operator. */
export const operatorsOf: typeof actorOf = (acting, names) => ({
  ...actorOf(acting, names),
  ...(acting.actor.name === undefined ? {} : { name: acting.actor.name }),
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

/** Streams that are no resource. */
const stateless: Readonly<Record<string, unknown>> = { channelitem: channelItem, answer, block, team }

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

/** Reads the events at some revisions of a stream, with what they changed if that is shown. */
const readStream = async function* (
  stream: string,
  revisions: Iterable<number>,
  { handler, originOf, onRead, withoutChanges }: ReadSources,
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
    const changes = withoutChanges ? [] : (changesOfEvent(event) ?? ofStates())
    yield { step, resource, changes, message: sentenceOf(event, revision <= 1) }
  }
}

/** Streams that are read at the same time; the store combines their reads. */
const streamsAtATime = 32

/** How events are read. */
interface ReadSources extends HistorySources {
  readonly withoutChanges?: boolean
  /** Whether there is still room for the event of a row, by its place among the rows. */
  readonly hasRoom?: (row: number) => boolean
}

/**
 * Calls `use` with the event of each row. Each stream is read once, from a snapshot before them: what a value was
 * follows from the events before. Others are served in between, however many streams are read at the same time.
 */
export const forEachFound = async (
  rows: readonly HistoryRow[],
  sources: ReadSources,
  use: (found: Found) => void,
): Promise<void> => {
  const { signal, hasRoom = () => true } = sources
  const wanted = new Map<string, Map<number, number>>()
  for (const [row, { stream, revision }] of rows.entries())
    wanted.set(stream, (wanted.get(stream) ?? new Map()).set(revision, row))
  const [limit, looked] = [pLimit(streamsAtATime), turnsForAll()]
  const read = async (stream: string, places: ReadonlyMap<number, number>) => {
    const revisions = [...places].filter(([, row]) => hasRoom(row)).map(([revision]) => revision)
    if (revisions.length === 0) return
    for await (const found of readStream(stream, revisions, sources)) {
      await looked()
      signal?.throwIfAborted()
      use(found)
    }
  }
  await Promise.all([...wanted].map(([stream, places]) => limit(() => read(stream, places))))
}

/** Returns the name of an event of a history. */
export const typeOf = ({ type, data }: LogEvent): string => (type === 'Unknown' ? data.type : type)

/** What an entry has before numbers and names are looked up. */
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

/** Which of the events are read: by default all, with all columns. */
export interface HistoryPage {
  readonly listed: Pick<Listed<HistoryRow>, 'rows' | 'next'>
  readonly placeOf: (row: HistoryRow) => Position
  readonly shown: ReadonlySet<string>
}

/**
 * Returns the events of the rows of a page, in their order, as many as an answer has room for. States are not kept:
 * each may have 64 KB.
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
  const entries = rows.flatMap(({ position }, i): readonly HistoryEntry[] => {
    const one = found[i]
    if (!one) return []
    const { acting, ...entry } = one
    return [{ event: numbers.get(position) ?? null, ...entry, actor: present(acting, names) }]
  })
  return { ...further, rows: entries }
}

/** Returns the events of all rows, in their order, for a program on this machine. */
export const readHistory = async (
  rows: readonly HistoryRow[],
  sources: HistorySources,
): Promise<readonly HistoryEntry[]> =>
  (await readPage({ listed: { rows }, placeOf: () => [], shown: new Set() }, sources, Infinity)).rows
