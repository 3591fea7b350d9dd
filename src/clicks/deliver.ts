import { setTimeout as sleep } from 'node:timers/promises'
import type { EventStore } from '../events/store.ts'
import { backOff } from '../lib/async/backoff.ts'
import { type AsideSpool, entriesIn, reasonToKeepAside } from './aside.ts'
import type { ClickRecord } from './record.ts'
import { type Relay, type RelayOptions, type RelayState, startRelay } from './relay.ts'
import type { Log } from './report.ts'
import type { ClickSink } from './sink.ts'
import type { EarlierSpool } from './spool/earlier.ts'
import type { Route } from './spool/segment.ts'
import type { RelayedSpool } from './spool/earlier.ts'
import type { SpoolSource } from './spool/source.ts'

/** The spools of one folder, and where their entries go. */
export interface SpoolFolder {
  readonly dir: string
  readonly route: Route
  readonly earlier: readonly EarlierSpool[]
  /**
   * the spool of this process, which is delivered after the earlier ones; undefined in a folder that takes no more
   * visits
   */
  readonly own?: RelayedSpool | undefined
  readonly sink: ClickSink
  readonly record: ClickRecord
}

/** Relays all spools of a process. */
export interface Relays {
  /** Resolves once what earlier processes have left in the folder is delivered. */
  readonly add: (folder: SpoolFolder) => Promise<void>
  readonly states: () => readonly RelayState[]
  /** spools that wait for an operator */
  readonly aside: () => readonly AsideSpool[]
  /** Waits until everything is delivered, at most `ms`, and not without progress. Returns how many entries are left. */
  readonly drain: (ms: number) => Promise<number>
  readonly stop: () => Promise<void>
  /** Removes the spool of this process if all of it is recorded. */
  readonly retireOwn: () => Promise<void>
}

export interface RelaysOptions extends Pick<RelayOptions, 'keyring' | 'classify' | 'onProblem' | 'confirmMs'> {
  readonly store: Pick<EventStore, 'logId'>
  readonly log: Log
}

type Ended = Pick<SpoolSource, 'id' | 'stats'> & { readonly remove: () => Promise<void> }

/** ms that draining waits without progress: while the sink works, and while it fails */
const [timeoutMs, failingTimeoutMs] = [5000, 1000]

/** Waits until nothing is left, or `ms` have passed, or there is no progress. Returns how many entries are left. */
const drain = async (relays: readonly Relay[], ms: number): Promise<number> => {
  const lag = () => relays.reduce((sum, relay) => sum + relay.state().lag, 0)
  const startedAt = performance.now()
  let [left, progressAt] = [lag(), startedAt]
  const isPatient = () => {
    const isFailing = relays.some((relay) => relay.state().problem !== undefined)
    return (
      performance.now() - startedAt < ms && performance.now() - progressAt < (isFailing ? failingTimeoutMs : timeoutMs)
    )
  }
  while (left > 0 && isPatient()) {
    await sleep(20)
    const now = lag()
    if (now < left) progressAt = performance.now()
    left = now
  }
  return left
}

/** The sink for a spool that has just begun: the topic has nothing of it yet, so there is nothing to ask. */
const fresh = (sink: ClickSink): ClickSink => {
  let isFresh = true
  return {
    ...sink,
    resumeAfter: async (...args) => {
      const known = isFresh ? {} : await sink.resumeAfter(...args)
      isFresh = false
      return known
    },
  }
}

/** Removes a spool if all of it is recorded. */
const retire = async ({ id, stats, remove }: Ended, record: ClickRecord, relay: Relay): Promise<boolean> => {
  if (!(await record.retire(id, relay.state().deliveredUpTo, stats().lastSeq))) return false
  await remove()
  return true
}

export const createRelays = ({ store, log, ...options }: RelaysOptions): Relays => {
  const running: Relay[] = []
  const aside: { readonly spool: EarlierSpool; readonly state: AsideSpool }[] = []
  const stopped = new AbortController()
  const { signal } = stopped
  const retirements: Promise<void>[] = []
  const own: (() => Promise<unknown>)[] = []

  /** Retires an earlier spool once all of it is recorded, which may be some time after it was delivered to Kafka. */
  const retireWhenRecorded = async (spool: EarlierSpool, record: ClickRecord, relay: Relay): Promise<void> => {
    await relay.ended
    const retries = backOff({ from: 100, to: 5000, signal })
    while (!signal.aborted) {
      const isRetired = await retire(spool, record, relay).catch((error: unknown) => {
        log('debug', 'a spool could not be retired yet', { spool: spool.id, err: error })
        return false
      })
      if (isRetired) return
      await retries.pause()
    }
  }

  const keepAside = (spool: EarlierSpool, dir: string, reason: string) => {
    const state = { id: spool.id, dir, entries: entriesIn(spool), reason }
    if (state.entries === 0) return
    aside.push({ spool, state })
    log('error', 'a spool is kept aside, and its clicks are not counted: see `linkledger spool list`', state)
  }

  return {
    add: async ({ dir, route, earlier, own: current, sink, record }) => {
      let startAfter: Promise<void> | undefined
      const relay = (spool: SpoolSource, to = sink) => {
        const started = startRelay({ ...options, spool, sink: to, ...(startAfter ? { startAfter } : {}) })
        running.push(started)
        startAfter = started.ended
        return started
      }
      for (const spool of earlier) {
        const reason = reasonToKeepAside(spool, store, route)
        if (reason === undefined) retirements.push(retireWhenRecorded(spool, record, relay(spool)))
        else keepAside(spool, dir, reason)
      }
      const left = startAfter
      if (!current) return left
      const ours = relay(current, current.isNew ? fresh(sink) : sink)
      own.push(() => retire(current, record, ours))
      return left
    },
    states: () => running.map((relay) => relay.state()),
    aside: () => aside.filter(({ spool }) => spool.exists()).map(({ state }) => state),
    drain: (ms) => drain(running, ms),
    stop: async () => {
      stopped.abort()
      await Promise.all([...running.map((relay) => relay.stop()), ...retirements])
    },
    retireOwn: async () => {
      for (const retireIt of own) await retireIt()
    },
  }
}
