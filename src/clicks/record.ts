import { randomUUID } from 'node:crypto'
import type { Classified, ClickEvent, Taken } from '../events/click.ts'
import { type ClickEntry, type ClickRecord, type ClickSink, OtherTopic, type Partitioned } from './visit.ts'
import type { DomainEvent } from '../events/index.ts'
import type { EventStore, ExpectedRevision } from '../events/store.ts'

/** Clicks in one event, and the bytes of JSON it may come to. */
const [most, bytes] = [500, 256 * 1024]

/** What a partition's last event tells: the last sequence number taken from each spool, which alone decides what is new. */
export interface Progress {
  readonly upTo: Readonly<Record<string, number>>
  readonly taken?: Taken | undefined
}
interface Tail extends Progress {
  readonly revision: ExpectedRevision
}

export interface Recording extends ClickRecord {
  /** The last sequence number of this spool that is recorded, by partition. */
  readonly reached: (spool: string) => Promise<Readonly<Record<number, number>>>
}
export interface RecordingOptions {
  readonly store: EventStore
  /** names the click log; its partitions are streams `clicks-<log>-<partition>` */
  readonly log: string
  readonly partitions: number
}

/** A click log in the event store: each click exactly once, whoever else may be recording it. */
export const openRecording = ({ store, log, partitions }: RecordingOptions): Recording => {
  const tails = new Map<number, Tail>()
  const streamOf = (partition: number) => `clicks-${log}-${partition}`

  const append = (partition: number, expected: ExpectedRevision, event: ClickEvent) => {
    const metadata = {
      v: 1,
      at: new Date().toISOString(),
      account: null,
      actor: { kind: 'service' },
      request: '',
      command: randomUUID(),
    } as const
    return store.append([{ stream: streamOf(partition), expected, events: [{ ...event, id: randomUUID(), metadata }] }])
  }

  const checkPartitions = async (partition: number) => {
    for await (const { type, data } of store.read(streamOf(partition))) {
      if (type !== 'ClickLogOpened' || data.partitions === partitions) return
      throw new Error(
        `the click log ${log} has ${data.partitions} partitions for ever, not ${partitions}: set KAFKA_PARTITIONS to ${data.partitions}, or KAFKA_TOPIC to another name`,
      )
    }
  }

  const load = async (partition: number): Promise<Tail> => {
    const last = await store.last(streamOf(partition))
    if (!last) {
      // whoever comes first fixes the number of partitions for ever
      await append(partition, 'no_stream', { type: 'ClickLogOpened', data: { log, partitions } })
      return load(partition)
    }
    await checkPartitions(partition)
    const tail = { revision: last.revision, ...progressOf(last) }
    tails.set(partition, tail)
    return tail
  }

  /** Appends what is new of these entries; another recorder's append makes it look again at what is new. */
  const record = async (partition: number, entries: readonly ClickEntry[]) => {
    for (;;) {
      const tail = tails.get(partition) ?? (await load(partition))
      checkTopic(tail, entries)
      const events = eventsOf(tail, entries)
      if (events.length === 0) return
      let { revision } = tail
      for (const event of events) {
        const appended = await append(partition, revision, event).catch((error: unknown) => {
          // it may have been stored: the stream's tail tells
          tails.delete(partition)
          throw error
        })
        if (!appended.ok) {
          tails.delete(partition)
          break
        }
        revision = revision === 'no_stream' ? 0n : revision + 1n
        tails.set(partition, { revision, ...progressOf(event) })
      }
    }
  }

  return {
    logId: store.logId,
    partitions,
    record,
    /** Asks the log: another recorder may have had the partition since. */
    taken: async (partition) => (await load(partition)).taken,
    reached: async (spool) => {
      const reached: Record<number, number> = {}
      for (let partition = 0; partition < partitions; partition++)
        reached[partition] = (tails.get(partition) ?? (await load(partition))).upTo[spool] ?? 0
      return reached
    },
  }
}

/** Straight from a spool into the log, without Kafka. */
export const intoLog = ({ record, reached }: Recording): ClickSink => ({
  reached,
  take: async (entries) => {
    for (const [partition, part] of Object.entries(entries)) await record(Number(partition), part)
  },
})

/**
 * Straight into the log what was meant for Kafka, as far as it follows what is recorded: what lies between may still be in the topic.
 */
export const intoLogWithoutHoles = (recording: Recording): ClickSink => {
  const { reached, taken } = recording
  const follows = async (partition: number, { spool, seq }: ClickEntry) =>
    seq <= ((await reached(spool))[partition] ?? 0) + 1
  const check = async (entries: Partitioned) => {
    for (const [key, [first]] of Object.entries(entries)) {
      const partition = Number(key)
      if (!first || (await follows(partition, first))) continue
      await taken(partition) // looks again at what is recorded
      if (!(await follows(partition, first)))
        throw new Error('what is in Kafka has to be recorded first: set KAFKA_BROKERS and KAFKA_TOPIC as they were')
    }
  }
  const into = intoLog(recording)
  return {
    reached,
    take: async (entries) => {
      await check(entries)
      await into.take(entries)
    },
  }
}

const progressOf = (event: DomainEvent): Progress => {
  switch (event.type) {
    case 'LinkClicked':
    case 'ClicksMissing':
    case 'ClicksDropped':
      return { upTo: event.data.upTo, taken: event.data.taken }
    case 'ClickLogOpened':
      return { upTo: {} }
    default:
      throw new Error(`${event.type} does not belong into a stream of clicks`)
  }
}

const isNew = ({ upTo }: Progress, { spool, seq }: ClickEntry) => seq > (upTo[spool] ?? 0)

/** All that stood up to the last message taken is recorded: what is new there, or is another message, is of another topic. */
const checkTopic = (progress: Progress, entries: readonly ClickEntry[]) => {
  const { taken } = progress
  if (!taken) return
  for (const entry of entries) {
    if (entry.offset === undefined || entry.offset > taken.offset) continue
    const isSame = entry.offset < taken.offset || (entry.spool === taken.spool && entry.seq === taken.seq)
    if (isSame && !isNew(progress, entry)) continue
    throw new OtherTopic(
      `at offset ${entry.offset} stands entry ${entry.seq} of spool ${entry.spool}, though everything up to offset ${taken.offset} (entry ${taken.seq} of spool ${taken.spool}) is recorded`,
    )
  }
}

/** What is new of these entries as events: clicks in batches with dictionaries, and every hole and drop told. */
export const eventsOf = (before: Progress, entries: readonly ClickEntry[]): ClickEvent[] => {
  const events: ClickEvent[] = []
  let progress: Progress = before
  let batch: { readonly rules: number; readonly clicks: Classified[]; size: number } | undefined
  const flush = () => {
    if (batch) events.push(linkClicked(batch.rules, batch.clicks, stored(progress)))
    batch = undefined
  }
  for (const entry of entries) {
    const { spool, seq, offset } = entry
    if (!isNew(progress, entry)) continue
    const from = (progress.upTo[spool] ?? 0) + 1
    if (seq > from) {
      flush()
      progress = { ...progress, upTo: { ...progress.upTo, [spool]: seq - 1 } }
      events.push({ type: 'ClicksMissing', data: { spool, from, to: seq - 1, ...stored(progress) } })
    }
    const next: Progress = {
      upTo: { ...progress.upTo, [spool]: seq },
      taken: offset === undefined ? progress.taken : { offset, spool, seq },
    }
    if ('dropped' in entry) {
      flush()
      progress = next
      events.push({ type: 'ClicksDropped', data: { spool, ...entry.dropped, ...stored(progress) } })
      continue
    }
    const size = JSON.stringify(entry.click).length
    if (batch && (batch.rules !== entry.rules || batch.clicks.length === most || batch.size + size > bytes)) flush()
    batch ??= { rules: entry.rules, clicks: [], size: 0 }
    batch.clicks.push(entry.click)
    batch.size += size
    progress = next
  }
  flush()
  return events
}

/** A click log without Kafka has no `taken`. */
const stored = ({ upTo, taken }: Progress) => (taken ? { upTo, taken } : { upTo })

const linkClicked = (rules: number, clicks: readonly Classified[], progress: Progress): ClickEvent => {
  const [agents, destinations] = [dictionary(), dictionary()]
  const rows = clicks.map((click) => ({
    ...click,
    agent: agents.index(click.agent),
    destination: destinations.index(click.destination),
  }))
  return {
    type: 'LinkClicked',
    data: { rules, agents: agents.words(), destinations: destinations.words(), clicks: rows, ...progress },
  }
}

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
