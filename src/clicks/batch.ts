import type { Classified, ClickEvent } from '../events/click.ts'
import type { ClickEntry } from './entry.ts'
import { isNew, type PartitionState, recordedSeq } from './partition.ts'

/** clicks in one event, and the bytes of JSON that they may come to */
const [maxClicks, maxBytes] = [500, 256 * 1024]

interface Batch {
  readonly rules: number
  readonly clicks: Classified[]
  /** of the clicks as JSON */
  bytes: number
}

/**
 * Returns the events that record what is new of these entries: clicks in batches, each gap in a spool's numbers as
 * `ClicksMissing`, and each count of dropped visits as `ClicksDropped`. Every event carries the partition's state after it.
 */
export const toEvents = (before: PartitionState, entries: readonly ClickEntry[]): ClickEvent[] => {
  const events: ClickEvent[] = []
  let state = before
  let batch: Batch | undefined
  const flush = () => {
    if (batch) events.push(linkClicked(batch, state))
    batch = undefined
  }

  for (const entry of entries) {
    if (!isNew(state, entry)) continue
    const { spool, seq } = entry
    const from = recordedSeq(state, spool) + 1
    if (seq > from) {
      flush()
      events.push(missingEntries(state, spool, seq - 1))
      state = withSeq(state, spool, seq - 1)
    }
    if ('dropped' in entry) {
      flush()
      state = afterEntry(state, entry)
      events.push({ type: 'ClicksDropped', data: { spool, ...entry.dropped, ...stored(state) } })
      continue
    }
    const bytes = JSON.stringify(entry.click).length
    if (batch && !fits(batch, entry.rules, bytes)) flush()
    batch ??= { rules: entry.rules, clicks: [], bytes: 0 }
    batch.clicks.push(entry.click)
    batch.bytes += bytes
    state = afterEntry(state, entry)
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

const afterEntry = (state: PartitionState, { spool, seq, offset }: ClickEntry): PartitionState => ({
  ...withSeq(state, spool, seq),
  taken: offset === undefined ? state.taken : { offset, spool, seq },
})

const fits = (batch: Batch, rules: number, bytes: number): boolean =>
  batch.rules === rules && batch.clicks.length < maxClicks && batch.bytes + bytes <= maxBytes

/** Without Kafka, an event has no field `taken`. */
const stored = ({ upTo, taken }: PartitionState) => (taken ? { upTo, taken } : { upTo })

const linkClicked = ({ rules, clicks }: Batch, state: PartitionState): ClickEvent => {
  const [agents, destinations, lists] = [dictionary(), dictionary(), dictionary()]
  const rows = clicks.map(({ languages, ...click }) => ({
    ...click,
    agent: agents.index(click.agent),
    destination: destinations.index(click.destination),
    // a relay of an older release does not send them
    ...(languages ? { languages: lists.index(languages.join()) } : {}),
  }))
  return {
    type: 'LinkClicked',
    data: {
      rules,
      agents: agents.words(),
      destinations: destinations.words(),
      languages: lists.words().map((list) => list.split(',').filter(Boolean)),
      clicks: rows,
      ...stored(state),
    },
  }
}

/** Numbers each distinct text in the order of its first use. */
const dictionary = () => {
  const words = new Map<string, number>()
  return {
    index: (word: string) => {
      const known = words.get(word) ?? words.size
      words.set(word, known)
      return known
    },
    words: () => [...words.keys()],
  }
}
