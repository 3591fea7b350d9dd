import type { Classified, ClickEvent } from '../events/statistics/click.ts'
import type { ClickEntry } from './entry.ts'
import { isNew, type PartitionState, recordedSeq } from './partition.ts'

/** clicks in one event, and the bytes of JSON that they may come to */
const [maxClicks, maxBytes] = [500, 256 * 1024]

type Row = Extract<ClickEvent, { type: 'LinkClicked' }>['data']['clicks'][number]
export interface Batch {
  readonly rules: number
  readonly agents: Dictionary
  readonly destinations: Dictionary
  readonly languages: Dictionary
  readonly clicks: Row[]
  /** of its JSON, about */
  bytes: number
}
/** The partition's state, which each entry moves on. */
interface Moving extends PartitionState {
  readonly upTo: Record<string, number>
  taken: PartitionState['taken']
}

/**
 * Returns the events that record what is new of these entries: clicks in batches, each gap in a spool's numbers as
 * `ClicksMissing`, and each count of dropped visits as `ClicksDropped`. Every event carries the partition's state after
 * it.
 */
export const toEvents = (before: PartitionState, entries: readonly ClickEntry[]): ClickEvent[] => {
  const events: ClickEvent[] = []
  const state: Moving = { ...before, upTo: { ...before.upTo }, taken: before.taken }
  let batch: Batch | undefined
  const flush = () => {
    if (batch) events.push(linkClicked(batch, state))
    batch = undefined
  }

  for (const entry of entries) {
    if (!isNew(state, entry)) continue
    const { spool, seq, offset } = entry
    const from = recordedSeq(state, spool) + 1
    if (seq > from) {
      flush()
      events.push(missingEntries(state, spool, seq - 1))
    }
    if ('dropped' in entry || (batch && !fits(batch, entry))) flush()
    state.upTo[spool] = seq
    if (offset !== undefined) state.taken = { offset, spool, seq }
    if ('dropped' in entry) events.push({ type: 'ClicksDropped', data: { spool, ...entry.dropped, ...stored(state) } })
    else add((batch ??= emptyBatch(entry.rules)), entry.click)
  }
  flush()
  return events
}

/** Returns the event for the entries of a spool up to this number that never arrived. */
export const missingEntries = (state: PartitionState, spool: string, to: number): ClickEvent => ({
  type: 'ClicksMissing',
  data: { spool, from: recordedSeq(state, spool) + 1, to, ...stored(withSeq(state, spool, to)) },
})

/** Returns the event for messages at the offsets `from` to `to` that Kafka deleted before they were recorded. */
export const deletedMessages = ({ upTo }: PartitionState, from: number, to: number): ClickEvent => ({
  type: 'ClicksMissing',
  // a message that appears at `to` after all is recognized as one of another topic
  data: { spool: '', from, to, offsets: true, upTo, taken: { offset: to, spool: '', seq: 0 } },
})

const withSeq = (state: PartitionState, spool: string, seq: number): PartitionState => ({
  ...state,
  upTo: { ...state.upTo, [spool]: seq },
})

/** Without Kafka, an event has no field `taken`. The state may move on, so the event has a copy. */
const stored = ({ upTo, taken }: PartitionState) => (taken ? { upTo: { ...upTo }, taken } : { upTo: { ...upTo } })

/** Numbers each distinct text in the order of its first use. */
const dictionary = () => new Map<string, number>()
type Dictionary = ReturnType<typeof dictionary>
const indexIn = (words: Dictionary, word: string): number => {
  const known = words.get(word) ?? words.size
  words.set(word, known)
  return known
}

export const emptyBatch = (rules: number): Batch => ({
  rules,
  agents: dictionary(),
  destinations: dictionary(),
  languages: dictionary(),
  clicks: [],
  bytes: 0,
})

/** bytes of the names, numbers and short texts of a click as JSON, at most */
const fixedBytes = 450

/**
 * Returns about how many bytes a click would add to a batch as JSON. To write it for that takes longer than all else
 * that is done with it here.
 */
const bytesIn = ({ agents, destinations, languages }: Batch, click: Classified): number => {
  const { agent, destination, rule, referrer, browser, os, bot = '', languages: list = [] } = click
  const own = rule.length + referrer.length + bot.length + browser.version.length + os.version.length
  const newWord = (words: Dictionary, word: string) => (words.has(word) ? 0 : word.length)
  return (
    fixedBytes + own + newWord(agents, agent) + newWord(destinations, destination) + newWord(languages, list.join())
  )
}

/** Whether a click has room in a batch. */
export const fits = (
  batch: Batch,
  { rules, click }: Pick<Extract<ClickEntry, { click: Classified }>, 'rules' | 'click'>,
): boolean =>
  batch.rules === rules && batch.clicks.length < maxClicks && batch.bytes + bytesIn(batch, click) <= maxBytes

export const add = (batch: Batch, click: Classified): void => {
  const { languages, ...others } = click
  batch.bytes += bytesIn(batch, click)
  batch.clicks.push({
    ...others,
    agent: indexIn(batch.agents, click.agent),
    destination: indexIn(batch.destinations, click.destination),
    // a relay of an older release does not send them
    ...(languages ? { languages: indexIn(batch.languages, languages.join()) } : {}),
  })
}

/** Returns what an event has of a batch. */
export const contentOf = ({ rules, agents, destinations, languages, clicks }: Batch) => ({
  rules,
  agents: [...agents.keys()],
  destinations: [...destinations.keys()],
  languages: [...languages.keys()].map((list) => list.split(',').filter(Boolean)),
  clicks,
})

const linkClicked = (batch: Batch, state: PartitionState): ClickEvent => ({
  type: 'LinkClicked',
  data: { ...contentOf(batch), ...stored(state) },
})
