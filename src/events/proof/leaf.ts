import { hash } from 'node:crypto'
import { canonical, canonicalWith, type KnownText, NotCanonical } from '../../lib/transparency/canonical.ts'
import { hashLeaf, hashLeaves, rootOf } from '../../lib/transparency/merkle.ts'
import type { Recorded } from '../event.ts'
import type { EventType, LogEvent } from '../index.ts'

/** An event as the log stores it. */
export type StoredEvent = Recorded<LogEvent>
type Values = Readonly<Record<string, unknown>>

/** The lists of a batch, and the member of a click that is an index into each. */
const lists = { agents: 'agent', destinations: 'destination', languages: 'languages' } as const
const listed = Object.entries(lists)

const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The events that have clicks. */
const batches: ReadonlySet<string> = new Set<EventType>(['LinkClicked', 'VisitsImported'])

/** Returns the clicks of a stored batch, undefined for any other event. */
const clicksIn = ({ type, data }: Pick<StoredEvent, 'type' | 'data'>): readonly Values[] | undefined => {
  if (!batches.has(type) || !isValues(data)) return undefined
  const { clicks } = data as Values
  return Array.isArray(clicks) && clicks.every(isValues) ? clicks : undefined
}

/** Returns the salt of a batch, undefined for one of an older release. */
const saltOf = ({ salt }: Values): string | undefined => (typeof salt === 'string' ? salt : undefined)

/** Returns the salt of one click: nothing that is shown with another click leads to it. */
const saltAt = (salt: string, index: number) => hash('sha256', `${salt}/${index}`, 'base64url')

/**
 * Yields the canonical form of each click of a batch, with its entries of the lists: a click says everything about
 * itself, and nothing else. Its salt keeps its hash, which receipts of other clicks have, from being guessed. Other
 * events have no clicks.
 */
export const clickTexts = function* (event: Pick<StoredEvent, 'type' | 'data'>): Generator<string> {
  const clicks = clicksIn(event)
  if (!clicks) return
  const batch = event.data as Values
  // clicks share the entries, which are written once
  const entries = new Map(
    listed.flatMap(([list, member]) => {
      const values = batch[list]
      return Array.isArray(values) ? [[member as string, values.map(canonical)] as const] : []
    }),
  )
  const entry: KnownText = (key, value) => (typeof value === 'number' ? entries.get(key)?.[value] : undefined)
  const salt = saltOf(batch)
  for (const [i, click] of clicks.entries()) {
    const keys = Object.keys(click)
    if (salt === undefined) {
      yield canonicalWith(click, keys, entry)
      continue
    }
    const own = canonical(saltAt(salt, i))
    yield canonicalWith(click, 'salt' in click ? keys : [...keys, 'salt'], (key, value) =>
      key === 'salt' ? own : entry(key, value),
    )
  }
}

const dataOf = (event: Pick<StoredEvent, 'type' | 'data'>, hashes?: Buffer): unknown => {
  const clicks = clicksIn(event)
  if (!clicks) return event.data
  const { agents: _agents, destinations: _destinations, languages: _languages, ...rest } = event.data as Values
  const { salt: _salt, ...unsalted } = rest
  return {
    // what no click has in its leaf must be in this one
    ...(saltOf(rest) === undefined ? rest : unsalted),
    clicks: { count: clicks.length, root: rootOf(hashes ?? hashLeaves([...clickTexts(event)])).toString('base64') },
  }
}

/** Learns what keeps an event from having a canonical form, which no service has stored. */
export type OnInvalid = (why: string) => void

/** Returns what `write` does; what it throws of an event without a canonical form is only reported. */
export const ifCanonical = <T>(write: () => T, onInvalid: OnInvalid = () => {}): T | undefined => {
  try {
    return write()
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error
    onInvalid(error.message)
    return undefined
  }
}

/**
 * Returns the leaf of an event in the Merkle tree over the log: its canonical form, sealed as it is stored. A batch of
 * clicks has the root of its clicks in place of them, so that one can be shown without the others. `at` is the time by
 * the clock of the log, which is the same on every engine. `hashes` are those of its clicks, if they are known. An
 * event without a canonical form has a leaf that says so: the tree goes on, and the event is a finding. docs/proof.md
 * describes it: a leaf never changes.
 */
export const leafOf = (
  event: StoredEvent,
  ordinal: number,
  at: string,
  { hashes, onInvalid }: { readonly hashes?: Buffer | undefined; readonly onInvalid?: OnInvalid | undefined } = {},
): string => {
  const { stream, revision, id, type, metadata } = event
  const named = { ordinal, stream, revision: Number(revision), id, type }
  return (
    ifCanonical(() => canonical({ ...named, metadata: { ...metadata, at }, data: dataOf(event, hashes) }), onInvalid) ??
    canonical({ ...named, invalid: true })
  )
}

/** Where the next leaf is: its ordinal, and the clock of the log before it. */
export interface LeafPlace {
  readonly size: number
  readonly at: string
}

const epoch = new Date(0).toISOString()
/** Whether a time is one: PostgreSQL stores `infinity`, too, and years before 1 and after 9999. */
export const isTime = (at: string): boolean => /^\d{4}-/.test(at)

/** Returns the clock of the log after events: it never goes back. */
export const clockAfter = (events: readonly Pick<StoredEvent, 'at'>[], before: string): string =>
  events.reduce((latest, { at }) => (at > latest ? (isTime(at) ? at : latest || epoch) : latest), before)

/** Returns the hashes of the leaves of the next events. */
export const leavesOf = (
  events: readonly StoredEvent[],
  { size, at: before }: LeafPlace,
  onInvalid?: (index: number, why: string) => void,
): readonly Buffer[] => {
  let at = before
  return events.map((event, i) => {
    at = clockAfter([event], at)
    return hashLeaf(leafOf(event, size + i, at, { onInvalid: (why) => onInvalid?.(i, why) }))
  })
}

/** Returns how many clicks events have. */
export const countClicks = (events: readonly StoredEvent[]): number =>
  events.reduce((sum, event) => sum + (clicksIn(event)?.length ?? 0), 0)
