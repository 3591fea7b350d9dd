import { setTimeout as sleep } from 'node:timers/promises'
import { aborted } from '../lib/async/aborted.ts'
import { backOff } from '../lib/async/backoff.ts'
import type { Keyring } from '../security/seal.ts'
import { rulesVersion } from './visitor/agent.ts'
import type { Classify } from './classify.ts'
import { type ClickEntry, type EntriesByPartition, furthest, type SeqByPartition } from './entry.ts'
import { LogWentBack } from './partition.ts'
import { isNews, type OnProblem } from './report.ts'
import type { ClickSink } from './sink.ts'
import type { SpoolEntry } from './spool/segment.ts'
import type { SpoolSource } from './spool/source.ts'
import { visitorHash } from './hashvisitor.ts'

/** entries in one delivery */
const batchSize = 500

export interface RelayState {
  /** the id of the spool */
  readonly spool: string
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
  /** ms that the spool keeps what is delivered, at least, before the sink is asked again whether it has it */
  readonly confirmMs?: number
  /** ms since 1970 */
  readonly now?: () => number
}

/**
 * Classifies a spool's entries and delivers them to a sink; address and user agent end here. The spool keeps an entry
 * until the sink has it, and after a failure everything that was not confirmed is delivered again.
 */
export const startRelay = (options: RelayOptions): Relay => {
  const { spool, sink, onProblem, startAfter, now = Date.now } = options
  const stopped = new AbortController()
  const { signal } = stopped
  let deliveredUpTo: SeqByPartition = {}
  const problem = createProblem(onProblem)
  let oldest: string | undefined
  let reading = new AbortController()

  const lag = () => lagOf(spool, deliveredUpTo)

  const deliver = async (entries: readonly SpoolEntry[]) => {
    oldest = timeOf(entries[0])
    await sink.deliver(await classifyAll(entries, options))
    deliveredUpTo = furthest(deliveredUpTo, Object.fromEntries(entries.map(({ partition, seq }) => [partition, seq])))
    if (!sink.confirm) await spool.release(deliveredUpTo)
    oldest = undefined
  }

  const deliverAll = async (onDelivered: () => void) => {
    reading = new AbortController()
    // with Kafka, delivered entries may not be recorded yet, and `resumeAfter` reports recorded ones only
    deliveredUpTo = furthest(deliveredUpTo, await sink.resumeAfter(spool.id))
    if (lag() === 0) problem.solved()
    const until = AbortSignal.any([signal, reading.signal])
    for await (const entries of spool.read(deliveredUpTo, batchSize, until)) {
      await deliver(entries)
      problem.solved()
      onDelivered()
    }
    reading.signal.throwIfAborted()
  }

  const failed = (error: unknown) => {
    if (error instanceof LogWentBack) deliveredUpTo = {}
    if (!signal.aborted) problem.met(error)
  }
  const finished = new AbortController()
  const ended = Promise.race([startAfter, aborted(signal)])
    .then(() => keepTrying(deliverAll, failed, signal))
    .finally(() => finished.abort())
  void confirmDelivered(
    options,
    () => deliveredUpTo,
    finished.signal,
    (error) => reading.abort(error),
  )

  return {
    state: () => ({
      spool: spool.id,
      deliveredUpTo,
      lag: lag(),
      lagSeconds: oldest === undefined ? 0 : Math.max(0, (now() - Date.parse(oldest)) / 1000),
      problem: problem.text(),
    }),
    ended,
    stop: async () => {
      stopped.abort()
      await ended
    },
  }
}

/** Repeats an attempt until it succeeds; after progress, the next pause is short again. */
const keepTrying = async (
  attempt: (onProgress: () => void) => Promise<void>,
  onFailure: (error: unknown) => void,
  signal: AbortSignal,
) => {
  const retries = backOff({ from: 100, to: 5000, signal })
  while (!signal.aborted) {
    try {
      return await attempt(retries.reset)
    } catch (error) {
      onFailure(error)
    }
    await retries.pause()
  }
}

/** Why entries are not being delivered; what is news of it is passed on. */
const createProblem = (onProblem: OnProblem) => {
  let problem: string | undefined
  return {
    text: () => problem,
    solved: () => void (problem = undefined),
    met: (error: unknown) => {
      const text = error instanceof Error ? error.message : String(error)
      if (isNews(error, text, problem)) onProblem(error, 'clicks wait in the spool')
      problem = text
    },
  }
}

/**
 * Releases what was delivered once the sink is seen to have it some time later: a log in PostgreSQL that fails over to
 * a replica ends a moment before the last clicks that it had confirmed.
 */
const confirmDelivered = async (
  { spool, sink: { confirm }, confirmMs = 5000 }: Pick<RelayOptions, 'spool' | 'sink' | 'confirmMs'>,
  deliveredUpTo: () => SeqByPartition,
  signal: AbortSignal,
  onLogWentBack: (error: LogWentBack) => void,
) => {
  if (!confirm) return
  let due = deliveredUpTo()
  for (let released = due; !signal.aborted; due = deliveredUpTo()) {
    await sleep(confirmMs, undefined, { ref: false, signal }).catch(() => {})
    if (due === released || signal.aborted) continue
    try {
      await confirm(spool.id, due)
      await spool.release(due)
      released = due
    } catch (error) {
      if (error instanceof LogWentBack) onLogWentBack(error)
    }
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

/** Returns how many entries of a spool are not delivered. */
export const lagOf = (spool: Pick<SpoolSource, 'stats'>, deliveredUpTo: SeqByPartition): number => {
  const { lastSeq, releasedUpTo } = spool.stats()
  const doneOf = (partition: number) => Math.max(deliveredUpTo[partition] ?? 0, releasedUpTo[partition] ?? 0)
  return lastSeq.reduce((sum, seq, partition) => sum + Math.max(0, seq - doneOf(partition)), 0)
}

const timeOf = (entry: SpoolEntry | undefined) => entry && ('visit' in entry ? entry.visit.at : entry.dropped.from)
