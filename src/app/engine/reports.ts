import { furthest, type SeqByPartition } from '../../clicks/entry.ts'
import { lagOf, type RelayState } from '../../clicks/relay.ts'
import type { Spool } from '../../clicks/spool/spool.ts'
import type { EngineState } from './engine.ts'

/** checks in a row without a report after which the engine is said to be silent, and is given up */
const [quiet, dead] = [10, 60]
/** the same of one that has never reported: a machine may take long to load it, and would never get further */
const neverBegun = 600

/** What is known of an engine that has not answered for so many seconds. */
const silent = (
  why: string,
  relay: Pick<RelayState, 'spool' | 'deliveredUpTo' | 'lag'>,
  seconds: number,
): EngineState => {
  const relays = [{ ...relay, lagSeconds: relay.lag > 0 ? seconds : 0, problem: undefined }]
  return {
    ...{ projector: undefined, relays, aside: [], recorder: undefined, weaknesses: [] },
    problems: [`${why}: nothing is counted or shown meanwhile`],
  }
}

/** What the engine reports several times a second. */
export interface Reports {
  readonly heard: (state: EngineState) => void
  /** It starts, and is not ready to work yet. */
  readonly starting: () => void
  /** The thread has ended: nothing is expected before the first report of the next one. */
  readonly ended: () => void
  /** Whether the engine has begun to work. */
  readonly works: () => boolean
  /** Whether nothing was heard of the engine for some time. */
  readonly isSilent: () => boolean
  /** Returns how many entries of the spool it has not delivered, as far as is known. */
  readonly left: () => number
  readonly state: () => EngineState
  readonly stop: () => void
}

/**
 * Keeps the last report of the engine while it is true, and calls `onDead` when none has come for a minute, or for ten
 * minutes at its start. It counts checks: a process that was stopped, or a machine that was asleep, has had none
 * meanwhile.
 */
export const createReports = (spool: Pick<Spool, 'id' | 'stats'>, onDead: () => void, everyMs = 1000): Reports => {
  let state: EngineState | undefined
  let deliveredUpTo: SeqByPartition = {}
  let why = 'the engine is starting'
  let checks = 0
  let last = performance.now()
  const timer = setInterval(() => {
    if (++checks === (state ? dead : neverBegun)) onDead()
  }, everyMs).unref()
  const begin = (next: EngineState | undefined) => {
    state = next
    checks = 0
    last = performance.now()
  }
  const isSilent = () => checks >= quiet
  const left = () => lagOf(spool, deliveredUpTo)
  return {
    heard: (next) => {
      begin(next)
      // what was delivered stays so when the thread has ended
      for (const relay of next.relays)
        if (relay.spool === spool.id) deliveredUpTo = furthest(deliveredUpTo, relay.deliveredUpTo)
    },
    starting: () => begin(undefined),
    ended: () => {
      why = 'the engine has ended and is started again'
      begin(undefined)
    },
    works: () => state !== undefined,
    isSilent,
    left,
    state: () => {
      if (state && !isSilent()) return state
      const seconds = (performance.now() - last) / 1000
      const hasStarted = state ? 'the engine' : `${why}, and`
      const what = isSilent() ? `${hasStarted} has not answered for ${Math.round(seconds)} s` : why
      return silent(what, { spool: spool.id, deliveredUpTo, lag: left() }, seconds)
    },
    stop: () => clearInterval(timer),
  }
}
