import { setTimeout as sleep } from 'node:timers/promises'
import { aborted } from '../lib/async/aborted.ts'
import { backOff } from '../lib/async/backoff.ts'
import type { Keyring } from '../security/seal.ts'
import { rulesVersion } from './visitor/agent.ts'
import type { Classify } from './classify.ts'
import { type ClickEntry, type EntriesByPartition, furthest, type SeqByPartition } from './entry.ts'
import { isNews, type OnProblem } from './report.ts'
import type { ClickSink } from './sink.ts'
import type { SpoolEntry } from './spool/segment.ts'
import type { SpoolSource } from './spool/source.ts'
import { visitorHash } from './hashvisitor.ts'

/** entries in one delivery */
const batchSize = 500

/**
 * Above this many visits per ms, answering them has priority over recording, until a click has waited for this many ms.
 */
const [busyVisitsPerMs, longestWait] = [4, 2000]

export interface RelayState {
  /** the last sequence number of each partition that the sink has */
  readonly deliveredUpTo: SeqByPartition
  /** entries in the spool that are not delivered */
  readonly lag: number
  /** age in seconds of the oldest entry that is being delivered, 0 when none is */
  readonly lagSeconds: number
  /** why entries are not being delivered */
  readonly problem: string | undefined
}

export interface Relay {
  readonly state: () => RelayState
  /** Resolves when a closed spool is empty, or the relay was stopped. */
  readonly ended: Promise<void>
  readonly stop: () => Promise<void>
}

export interface RelayOptions {
  readonly spool: SpoolSource
  readonly sink: ClickSink
  readonly keyring: Pick<Keyring, 'forOpening'>
  readonly classify: Classify
  readonly onProblem: OnProblem
  /** delivery begins when this has resolved: the entries of an earlier spool go first */
  readonly startAfter?: Promise<unknown>
  /** how many visits this process has answered so far */
  readonly answeredVisits?: () => number
  /** ms since 1970 */
  readonly now?: () => number
}

/**
 * Classifies a spool's entries and delivers them to a sink; address and user agent end here. The spool keeps an entry
 * until the sink has it, and after a failure everything that was not confirmed is delivered again.
 */
export const startRelay = (options: RelayOptions): Relay => {
  const { spool, sink, onProblem, startAfter, answeredVisits = () => 0, now = Date.now } = options
  const stopped = new AbortController()
  const { signal } = stopped
  let deliveredUpTo: SeqByPartition = {}
  let problem: string | undefined
  let oldest: string | undefined

  const lag = () => lagOf(spool, deliveredUpTo)

  const deliver = async (entries: readonly SpoolEntry[]) => {
    oldest = timeOf(entries[0])
    await sink.deliver(await classifyAll(entries, options))
    deliveredUpTo = furthest(deliveredUpTo, Object.fromEntries(entries.map(({ partition, seq }) => [partition, seq])))
    await spool.release(deliveredUpTo)
    oldest = undefined
  }

  const deliverAll = async (onDelivered: () => void) => {
    // with Kafka, delivered entries may not be recorded yet, and `resumeAfter` reports recorded ones only
    deliveredUpTo = furthest(deliveredUpTo, await sink.resumeAfter(spool.id))
    if (lag() === 0) problem = undefined
    for await (const entries of spool.read(deliveredUpTo, batchSize, signal)) {
      const [startedAt, answeredBefore] = [performance.now(), answeredVisits()]
      await deliver(entries)
      onDelivered()
      const visitsPerMs = (answeredVisits() - answeredBefore) / (performance.now() - startedAt)
      if (isBusy(visitsPerMs, now() - Date.parse(timeOf(entries.at(-1)) ?? '')))
        await yieldToVisits(answeredVisits, signal)
    }
  }

  const run = async () => {
    await Promise.race([startAfter, aborted(signal)])
    const retries = backOff({ from: 100, to: 5000, signal })
    while (!signal.aborted) {
      try {
        await deliverAll(() => {
          problem = undefined
          retries.reset()
        })
        return
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error)
        if (isNews(error, text, problem) && !signal.aborted) onProblem(error, 'clicks wait in the spool')
        problem = text
      }
      await retries.pause()
    }
  }
  const ended = run()

  return {
    state: () => ({
      deliveredUpTo,
      lag: lag(),
      lagSeconds: oldest === undefined ? 0 : Math.max(0, (now() - Date.parse(oldest)) / 1000),
      problem,
    }),
    ended,
    stop: async () => {
      stopped.abort()
      await ended
    },
  }
}

const classifyAll = async (
  entries: readonly SpoolEntry[],
  { spool, keyring, classify }: Pick<RelayOptions, 'spool' | 'keyring' | 'classify'>,
): Promise<EntriesByPartition> => {
  const accounts = [...new Set(entries.flatMap((entry) => ('visit' in entry ? [entry.visit.account] : [])))]
  const hash = visitorHash(await keyring.forOpening(accounts))
  const partitions: Record<number, ClickEntry[]> = {}
  for (const entry of entries) {
    const { partition, seq } = entry
    const content =
      'visit' in entry ? { click: classify(entry.visit, hash), rules: rulesVersion } : { dropped: entry.dropped }
    ;(partitions[partition] ??= []).push({ spool: spool.id, seq, ...content })
  }
  return partitions
}

/** Whether visits go before clicks that have waited for these ms. A clock that was set back says nothing. */
const isBusy = (visitsPerMs: number, waited: number) =>
  visitsPerMs > busyVisitsPerMs && waited >= 0 && waited < longestWait

/** Yields the CPU to redirects under load, for at most a second: clicks in the spool can be counted later. */
const yieldToVisits = async (answeredVisits: () => number, signal: AbortSignal) => {
  for (let pauses = 10; pauses > 0 && !signal.aborted; pauses--) {
    const before = answeredVisits()
    await sleep(100, undefined, { signal }).catch(() => {})
    if ((answeredVisits() - before) / 100 <= busyVisitsPerMs) return
  }
}

const lagOf = (spool: SpoolSource, deliveredUpTo: SeqByPartition): number => {
  const { lastSeq, releasedUpTo } = spool.stats()
  const doneOf = (partition: number) => Math.max(deliveredUpTo[partition] ?? 0, releasedUpTo[partition] ?? 0)
  return lastSeq.reduce((sum, seq, partition) => sum + Math.max(0, seq - doneOf(partition)), 0)
}

const timeOf = (entry: SpoolEntry | undefined) => entry && ('visit' in entry ? entry.visit.at : entry.dropped.from)
