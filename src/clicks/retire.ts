import { randomUUID } from 'node:crypto'
import type { SpoolEvent } from '../events/statistics/click.ts'
import { type Actor, systemMetadata } from '../events/event.ts'
import type { EventStore, ExpectedRevision, Write } from '../events/store.ts'
import { streamId } from '../events/streams.ts'
import type { PartitionState } from './partition.ts'

/** What the stream of a spool and a partition says. */
export interface SpoolState {
  readonly revision: ExpectedRevision
  /** the last recorded sequence number, while the partition's click events do not name the spool */
  readonly seq: number
  /** ISO 8601; undefined while the spool is open, or unknown */
  readonly retiredAt: string | undefined
}

/** An operator's decision to drop the last entries of a spool. */
export interface Drop {
  readonly entries: number
  readonly actor: Actor
}

/** The spools of a click log: the last numbers of those that its click events no longer name. */
export interface Spools {
  readonly find: (partition: number, spool: string) => Promise<SpoolState>
  readonly opening: (partition: number, spool: string, state: SpoolState) => Write
  readonly retiring: (partition: number, spool: string, state: SpoolState, seq: number, drop?: Drop) => Write
}

export const spoolsOf = (store: Pick<EventStore, 'last'>, log: string): Spools => {
  const write = (
    partition: number,
    spool: string,
    { revision }: SpoolState,
    event: SpoolEvent,
    actor?: Actor,
  ): Write => {
    const metadata = { ...systemMetadata(), ...(actor ? { actor } : {}) }
    const stream = streamId('spool', log, partition, spool)
    return { stream, expected: revision, events: [{ ...event, id: randomUUID(), metadata }] }
  }
  return {
    find: async (partition, spool) => {
      const last = await store.last(streamId('spool', log, partition, spool))
      if (last?.type === 'SpoolOpened') return { revision: last.revision, seq: last.data.after, retiredAt: undefined }
      if (last?.type === 'SpoolRetired') return { revision: last.revision, seq: last.data.last, retiredAt: last.at }
      if (last) throw new Error(`${last.type} does not belong in the stream of a spool`)
      return { revision: 'no_stream', seq: 0, retiredAt: undefined }
    },
    opening: (partition, spool, state) =>
      write(partition, spool, state, { type: 'SpoolOpened', data: { log, partition, spool, after: state.seq } }),
    retiring: (partition, spool, state, seq, drop) => {
      const data = { log, partition, spool, last: seq, ...(drop ? { dropped: drop.entries } : {}) }
      return write(partition, spool, state, { type: 'SpoolRetired', data }, drop?.actor)
    },
  }
}

/** ms that a spool must not change before another process's number is moved out of `upTo` */
const idleMs = 60_000
/** spools in `upTo` above which idle ones are retired */
const crowd = 50
/**
 * spools that are looked up and retired together; and before one event, so that even the largest event fits into an
 * append again
 */
const [chunkSize, longest] = [100, 10_000]
/** ms that a recorder of version 0.1.0 has to read repetitions from Kafka, which it recognizes by `upTo` alone */
const kafkaDelay = 600_000

/** Decides which spools the next click event of a partition need not name any more. */
export interface Retirement {
  /** Returns the spools to leave out, which are retired now. */
  readonly next: (
    partition: number,
    state: PartitionState,
    busy: ReadonlySet<string>,
  ) => Promise<ReadonlyMap<string, SpoolState>>
  /** This spool has been retired: it need not be idle to be left out. */
  readonly add: (spool: string) => void
}

/**
 * Retiring a spool only moves its number from `upTo` to its own stream, where an entry that arrives later finds it. So
 * every process may retire any spool at any time; one that is still in use is opened again.
 */
export const createRetirement = (store: Pick<EventStore, 'append'>, spools: Spools, now: () => number): Retirement => {
  const ended = new Set<string>()
  const looks = new Map<number, { readonly at: number; readonly upTo: PartitionState['upTo'] }>()
  const idle = new Map<number, string[]>()

  /** Compares with the numbers of a minute ago. */
  const look = (partition: number, { upTo }: PartitionState) => {
    const before = looks.get(partition)
    if (before && Math.abs(now() - before.at) < idleMs) return
    looks.set(partition, { at: now(), upTo })
    if (before)
      idle.set(
        partition,
        Object.keys(upTo).filter((spool) => before.upTo[spool] === upTo[spool]),
      )
  }

  /** Retires those of the spools that may leave, and returns them; none when another process retires them, too. */
  const retire = async (partition: number, state: PartitionState, chunk: readonly string[]) => {
    const isCrowded = Object.keys(state.upTo).length > crowd
    const [leaving, writes] = [new Map<string, SpoolState>(), [] as Write[]]
    const found = await Promise.all(chunk.map((spool) => spools.find(partition, spool)))
    for (const [i, spool] of chunk.entries()) {
      const [known, seq] = [found[i]!, state.upTo[spool]!]
      const isRetired = known.retiredAt !== undefined && known.seq === seq
      const isSettled = !state.taken || now() - Date.parse(known.retiredAt ?? '') >= kafkaDelay
      if (isRetired ? !isSettled : !isCrowded || known.seq > seq) continue
      if (!isRetired) writes.push(spools.retiring(partition, spool, known, seq))
      const revision = known.revision === 'no_stream' ? 0n : known.revision + 1n
      leaving.set(spool, isRetired ? known : { revision, seq, retiredAt: new Date(now()).toISOString() })
    }
    const { ok } = writes.length > 0 ? await store.append(writes) : { ok: true }
    return ok ? leaving : []
  }

  return {
    add: (spool) => void ended.add(spool),
    next: async (partition, state, busy) => {
      look(partition, state)
      const isCandidate = (spool: string) =>
        state.upTo[spool] !== undefined && !busy.has(spool) && spool !== state.taken?.spool
      const due = [...(state.taken ? [] : ended), ...(idle.get(partition)?.splice(0, longest) ?? [])]
      const candidates = [...new Set(due)].filter(isCandidate)
      const leaving = new Map<string, SpoolState>()
      for (let at = 0; at < candidates.length; at += chunkSize)
        for (const [spool, known] of await retire(partition, state, candidates.slice(at, at + chunkSize)))
          leaving.set(spool, known)
      return leaving
    },
  }
}
