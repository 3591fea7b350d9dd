import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import QuickLRU from 'quick-lru'
import type { Classified } from '../events/click.ts'
import type { ClickEntry, ClickSink, Partitioned, Spool, SpoolEntry, Visit } from './visit.ts'
import type { Keyring } from '../security/seal.ts'
import { rulesVersion } from '../visitor/agent.ts'

/** Entries at a time. */
const most = 500

/** Visits per ms from which on answering them comes first, unless the spool holds this many bytes already. */
const [rush, plenty] = [4, 256 * 1024 ** 2]

export interface Relay {
  readonly state: () => {
    /** the last sequence number of each partition that is safe where it was taken */
    readonly reached: Readonly<Record<number, number>>
    /** entries that wait in the spool */
    readonly lag: number
    /** seconds since the oldest of those that are being taken on came in */
    readonly late: number
    readonly problem: string | undefined
  }
  /** Resolves when a spool that was closed is empty, or the relay was stopped. */
  readonly ended: Promise<void>
  readonly stop: () => Promise<void>
}
export interface RelayOptions {
  readonly spool: Spool
  readonly sink: ClickSink
  readonly keyring: Keyring
  readonly classify: (visit: Visit, hash: (account: number, text: string) => string) => Classified
  readonly onProblem: (error: unknown, what: string) => void
  /** how many visits this process has answered so far */
  readonly arrived?: () => number
}

/**
 * Takes what is in a spool on, classified: address and user agent end here. The spool keeps everything until the sink has it, and
 * after a failure everything that was not confirmed goes again.
 */
export const startRelay = ({ spool, sink, keyring, classify, onProblem, arrived = () => 0 }: RelayOptions): Relay => {
  const stopped = new AbortController()
  let reached: Readonly<Record<number, number>> = {}
  let problem: string | undefined
  let oldest: string | undefined

  const entriesOf = async (entries: readonly SpoolEntry[]): Promise<Partitioned> => {
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

  const pause = (ms: number) => sleep(ms, undefined, { signal: stopped.signal }).catch(() => {})

  /** In a rush this leaves the processor to the answers, a second at a time: what waits in the spool is not lost, only counted later. */
  const giveWay = async () => {
    for (let slices = 10; slices > 0 && !stopped.signal.aborted && spool.stats().bytes < plenty; slices--) {
      const came = arrived()
      await pause(100)
      if ((arrived() - came) / 100 <= rush) return
    }
  }

  const takeAll = async (onTaken: () => void) => {
    // a sink knows least what it has just been given: what was confirmed here stands
    reached = furthest(reached, await sink.reached(spool.id))
    if (lag() === 0) problem = undefined
    for await (const entries of spool.read(reached, most, stopped.signal)) {
      const [began, came] = [performance.now(), arrived()]
      oldest = timeOf(entries[0])
      await sink.take(await entriesOf(entries))
      reached = furthest(reached, Object.fromEntries(entries.map(({ partition, seq }) => [partition, seq])))
      await spool.release(reached)
      oldest = undefined
      onTaken()
      if ((arrived() - came) / (performance.now() - began) > rush) await giveWay()
    }
  }

  const run = async () => {
    for (let wait = 100; !stopped.signal.aborted; wait = Math.min(wait * 2, 5000)) {
      try {
        await takeAll(() => {
          problem = undefined
          wait = 100
        })
        return
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error)
        if (text !== problem && !stopped.signal.aborted) onProblem(error, 'clicks wait in the spool')
        problem = text
      }
      await pause(wait)
    }
  }
  const ended = run()

  const lag = () => {
    const { last, gone } = spool.stats()
    return last.reduce((sum, seq, p) => sum + Math.max(0, seq - Math.max(reached[p] ?? 0, gone[p] ?? 0)), 0)
  }

  return {
    state: () => ({
      reached,
      lag: lag(),
      late: oldest === undefined ? 0 : Math.max(0, (Date.now() - Date.parse(oldest)) / 1000),
      problem,
    }),
    ended,
    stop: async () => {
      stopped.abort()
      await ended
    },
  }
}

const timeOf = (entry: SpoolEntry | undefined) => entry && ('visit' in entry ? entry.visit.at : entry.dropped.from)

const furthest = (a: Readonly<Record<number, number>>, b: Readonly<Record<number, number>>) => {
  const all = { ...a }
  for (const [partition, seq] of Object.entries(b)) all[Number(partition)] = Math.max(seq, a[Number(partition)] ?? 0)
  return all
}

const derivedKeys = new QuickLRU<string, Buffer>({ maxSize: 10_000 })
const visitorKey = (key: Buffer) => {
  const name = key.toString('base64')
  const known = derivedKeys.get(name) ?? Buffer.from(hkdfSync('sha256', key, '', 'linkledger visitors 1', 32))
  derivedKeys.set(name, known)
  return known
}

/** 64 bits under a key of the account: nobody can follow a visitor across accounts, and erasing an account ends it for good. */
const visitorHash = (keys: ReadonlyMap<number, Buffer>) => {
  // an erased account has no key any more: its last visitors are nobody's
  const nobody = randomBytes(32)
  return (account: number, text: string) => {
    const key = keys.get(account)
    return createHmac('sha256', key ? visitorKey(key) : nobody)
      .update(text)
      .digest('hex')
      .slice(0, 16)
  }
}
