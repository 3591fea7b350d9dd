import { lagOf } from '../../clicks/relay.ts'
import type { Spool } from '../../clicks/spool/spool.ts'
import type { EngineState } from './engine.ts'

/** checks in a row without a report after which the engine is said to be silent, and is given up */
const [quiet, dead] = [10, 60]

/** What is known of an engine that has not answered for so many seconds. The spool says what waits for it. */
const silent = (why: string, spool: Pick<Spool, 'stats'>, seconds: number): EngineState => {
  const lag = lagOf(spool, {})
  const relay = { deliveredUpTo: {}, lag, lagSeconds: lag > 0 ? seconds : 0, problem: undefined }
  return {
    ...{ projector: undefined, relays: [relay], aside: [], recorder: undefined, weaknesses: [] },
    problems: [`${why}: nothing is counted or shown meanwhile`],
  }
}

/** What the engine reports several times a second. */
export interface Reports {
  readonly heard: (state: EngineState) => void
  /** The thread has ended: nothing is expected before the first report of the next one. */
  readonly ended: () => void
  /** Whether the engine has begun to work. */
  readonly works: () => boolean
  /** Whether the engine has reported, and does so no more. */
  readonly isSilent: () => boolean
  readonly state: () => EngineState
  readonly stop: () => void
}

/**
 * Keeps the last report of the engine while it is true, and calls `onDead` when none has come for a minute. It counts
 * checks: a process that was stopped, or a machine that was asleep, has had none meanwhile.
 */
export const createReports = (spool: Pick<Spool, 'stats'>, onDead: () => void, everyMs = 1000): Reports => {
  let state: EngineState | undefined
  let why = 'the engine is starting'
  let checks = 0
  let last = performance.now()
  const timer = setInterval(() => {
    if (state && ++checks === dead) onDead()
  }, everyMs).unref()
  const begin = (next: EngineState | undefined) => {
    state = next
    checks = 0
    last = performance.now()
  }
  const isSilent = () => checks >= quiet
  return {
    heard: begin,
    ended: () => {
      why = 'the engine has ended and is started again'
      begin(undefined)
    },
    works: () => state !== undefined,
    isSilent,
    state: () => {
      if (state && !isSilent()) return state
      const seconds = (performance.now() - last) / 1000
      return silent(state ? `the engine has not answered for ${Math.round(seconds)} s` : why, spool, seconds)
    },
    stop: () => clearInterval(timer),
  }
}
