import { randomBytes, randomUUID } from 'node:crypto'
import type { ClickEvent } from '../events/statistics/click.ts'
import { systemMetadata } from '../events/event.ts'
import type { EventStore, ExpectedRevision, Write } from '../events/store.ts'
import { streamId } from '../events/streams.ts'
import { OperatorError } from '../lib/operatorerror.ts'
import { type PartitionState, recordedSeq, stateAfter } from './partition.ts'
import type { Spools, SpoolState } from './retire.ts'

/** The last event of a partition's stream, and what the streams of spools said since it was read. */
export interface Tail extends PartitionState {
  readonly revision: ExpectedRevision
  readonly retired: ReadonlyMap<string, SpoolState>
}

/** The ends of a click log's partitions, as far as this process has read or written them. */
export interface Tails {
  /** Reads the end from the log; undefined when the partition was never opened. */
  readonly read: (partition: number) => Promise<Tail | undefined>
  /** Reads the end from the log, and opens the partition if necessary. */
  readonly load: (partition: number) => Promise<Tail>
  /**
   * Returns the end as it is known, with the numbers of these spools. It may be behind the log: appending then fails.
   */
  readonly get: (partition: number, spools: Iterable<string>) => Promise<Tail>
  /** Returns the last recorded number of a spool. Does not open the partition. */
  readonly seqOf: (partition: number, spool: string) => Promise<number>
  readonly forget: (partition: number) => void
  /**
   * Appends the events in order. Returns false when another process has appended to the stream since `tail` was read.
   */
  readonly append: (partition: number, tail: Tail, events: readonly ClickEvent[]) => Promise<boolean>
}

export interface TailsOptions {
  readonly store: EventStore
  /** names the click log; its partitions are the streams `clicks-<log>-<partition>` */
  readonly log: string
  /** fixed for ever by the first event of a partition */
  readonly partitions: number
  /** Called with the last recorded numbers of the spools of a partition, and the position of their event. */
  readonly onRecorded?: (partition: number, upTo: PartitionState['upTo'], position: bigint) => void
}

/** The click log has another number of partitions, so nothing can have been recorded in it under this one. */
export class OtherPartitions extends OperatorError {
  override readonly name = 'OtherPartitions'
}

const checkPartitions = async ({ store, log, partitions }: TailsOptions, stream: string) => {
  for await (const { type, data } of store.read(stream, 0n, 1)) {
    if (type !== 'ClickLogOpened' || data.partitions === partitions) return
    throw new OtherPartitions(
      `the click log ${log} was created with ${data.partitions} partitions and cannot have ${partitions}: set KAFKA_PARTITIONS to ${data.partitions}, or KAFKA_TOPIC to another name`,
    )
  }
}

/** Returns the writes that open the spools which the event is the first to name. */
const openings = (spools: Spools, partition: number, { upTo, retired }: Tail, { data }: ClickEvent): Write[] =>
  Object.keys('upTo' in data ? data.upTo : {}).flatMap((spool) => {
    const state = retired.get(spool)
    const isOpen = upTo[spool] !== undefined || !state || (state.revision !== 'no_stream' && !state.retiredAt)
    return isOpen ? [] : [spools.opening(partition, spool, state)]
  })

/** A receipt has hashes of other clicks: without a salt, one whose visitor is known could be guessed. */
const salted = (event: ClickEvent): ClickEvent =>
  event.type === 'LinkClicked'
    ? { ...event, data: { ...event.data, salt: randomBytes(16).toString('base64url') } }
    : event

const recordable = (event: ClickEvent) => ({ ...salted(event), id: randomUUID(), metadata: systemMetadata() })

/** Returns the end after an event that was appended to it. */
const after = (tail: Tail, event: ClickEvent): Tail => {
  const state = stateAfter(event)
  const retired = new Map([...tail.retired].filter(([spool]) => state.upTo[spool] === undefined))
  return { revision: tail.revision === 'no_stream' ? 0n : tail.revision + 1n, ...state, retired }
}

/** Returns the ends that are known. */
const createEnds = () => {
  const tails = new Map<number, Tail>()
  /** how often an append has moved or lost the end of each partition: what was read before that is old */
  const moves = new Map<number, number>()
  const move = (partition: number, tail?: Tail) => {
    moves.set(partition, (moves.get(partition) ?? 0) + 1)
    if (tail) tails.set(partition, tail)
    else tails.delete(partition)
  }
  return { tails, moves, move }
}

/**
 * Returns what adds to an end the numbers of spools that the partition's last event does not name. They hold until the
 * end is read again.
 */
const spoolNumbers =
  (spools: Spools, tails: Map<number, Tail>) =>
  async (partition: number, tail: Tail, wanted: Iterable<string>): Promise<Tail> => {
    const unknown = [...wanted].filter((spool) => tail.upTo[spool] === undefined && !tail.retired.has(spool))
    if (unknown.length === 0) return tail
    const found = unknown.map(async (spool) => [spool, await spools.find(partition, spool)] as const)
    const known = { ...tail, retired: new Map([...tail.retired, ...(await Promise.all(found))]) }
    // unless another append has moved the end meanwhile
    if (tails.get(partition) === tail) tails.set(partition, known)
    return known
  }

export const createTails = (options: TailsOptions, spools: Spools): Tails => {
  const { store, log, partitions, onRecorded = () => {} } = options
  const { tails, moves, move } = createEnds()
  const streamOf = (partition: number) => streamId('clicks', log, partition)

  const appendOne = (partition: number, expected: ExpectedRevision, event: ClickEvent, others: readonly Write[]) =>
    store.append([...others, { stream: streamOf(partition), expected, events: [recordable(event)] }])

  const read = async (partition: number): Promise<Tail | undefined> => {
    const before = moves.get(partition)
    const last = await store.last(streamOf(partition))
    if (last) await checkPartitions(options, streamOf(partition))
    if (moves.get(partition) !== before) return tails.get(partition) ?? read(partition)
    if (!last) return undefined
    const tail = { revision: last.revision, ...stateAfter(last), retired: new Map<string, SpoolState>() }
    tails.set(partition, tail)
    onRecorded(partition, tail.upTo, last.position)
    return tail
  }

  const load = async (partition: number): Promise<Tail> => {
    const tail = await read(partition)
    if (tail) return tail
    // when two processes open it at once, the first one fixes the number of partitions
    await appendOne(partition, 'no_stream', { type: 'ClickLogOpened', data: { log, partitions } }, [])
    return load(partition)
  }

  const lookUp = spoolNumbers(spools, tails)

  return {
    read,
    load,
    get: async (partition, wanted) => lookUp(partition, tails.get(partition) ?? (await load(partition)), wanted),
    seqOf: async (partition, spool) => {
      const tail = tails.get(partition) ?? (await read(partition))
      if (!tail) return (await spools.find(partition, spool)).seq
      return recordedSeq(await lookUp(partition, tail, [spool]), spool)
    },
    forget: (partition) => void tails.delete(partition),
    append: async (partition, before, events) => {
      let tail = before
      for (const event of events) {
        const others = openings(spools, partition, tail, event)
        const appended = await appendOne(partition, tail.revision, event, others).catch((error: unknown) => {
          // it may have been stored: only the stream can say
          move(partition)
          throw error
        })
        if (!appended.ok) {
          move(partition)
          return false
        }
        tail = after(tail, event)
        move(partition, tail)
        onRecorded(partition, tail.upTo, appended.position)
      }
      return true
    },
  }
}
