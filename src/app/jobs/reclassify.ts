import { isCancelled, isUnavailable, NotReady } from '../../lib/unavailable.ts'
import { repeat, unwatched, type Watching } from './repeat.ts'
import { Refused } from '../../commands/decider.ts'
import { Interrupted, type Means, step } from './classes.ts'
import { account as accounts } from '../../commands/accounts/account.ts'
import { planReclassification, type Rules } from '../../queries/statistics/reclassify.ts'
import type { Reader } from '../../queries/reader.ts'

export interface ReclassifierOptions extends Pick<Means, 'jobs' | 'claim' | 'handler'> {
  readonly rules: Rules
  /** Opens what reads all visits of an account, which takes long. */
  readonly openReader: () => { readonly reader: Reader; readonly close: () => Promise<void> }
  /** Runs work unless another process does; `lost` aborts when it has to end. */
  readonly alone: (work: (lost: AbortSignal) => Promise<void>) => Promise<void>
  readonly onProblem: (error: unknown, what: string) => void
  readonly watching?: Watching
  /** ms between two looks for jobs */
  readonly everyMs?: number
  /** visits that one event changes */
  readonly perPart?: number
}

/** times in a row that a statement of a job may take too long, or be cancelled */
const mostCancelled = 3

/** Detects failed jobs. An outage of a store is not a failure, but a statement that is cancelled repeatedly is. */
const countCancelled = () => {
  let cancelled = 0
  return {
    isFailure: (error: unknown) =>
      isCancelled(error) ? ++cancelled % mostCancelled === 0 : !(error instanceof Interrupted || isUnavailable(error)),
    worked: () => (cancelled = 0),
  }
}

/**
 * Starts to carry out reclassifications that were asked for, an account at a time, the jobs in turn. Returns a function
 * that stops it: what is not done goes on with the next start.
 */
export const startReclassifier = (options: ReclassifierOptions) => {
  const { jobs, claim, handler, rules, perPart, openReader, alone, onProblem, everyMs = 1000 } = options
  const { isFailure, worked } = countCancelled()
  let stopped = false
  const carryOut = async (lost: AbortSignal) => {
    const { reader, close } = openReader()
    const ensureGoing = () => {
      if (stopped || lost.aborted) throw new Interrupted()
    }
    const plan = async (account: number) => {
      const { exclusions } = (await handler.load(accounts, account)).state
      return planReclassification(reader, rules, { account, exclusions, ...(perPart !== undefined && { perPart }) })
    }
    const means = { jobs, claim, handler, reader, plan, ensureGoing }
    try {
      for (let job = await jobs.next(); job && !stopped && !lost.aborted; job = await jobs.next())
        try {
          await step(means, job)
          worked()
        } catch (error) {
          // a job stays as it is in an outage, however short, and the next look goes on
          if (stopped || !isFailure(error)) throw error
          await jobs.end(job.id, true, error instanceof Refused ? error.problem : undefined)
          if (!(error instanceof Refused)) onProblem(error, 'a reclassification has failed')
        }
    } finally {
      await close()
    }
  }
  const look = async () => {
    if (stopped || !(await jobs.next())) return
    await alone(carryOut)
  }
  const stop = repeat((options.watching ?? unwatched)(look), everyMs, (error) => {
    if (!stopped && !(error instanceof Interrupted || error instanceof NotReady))
      onProblem(error, 'reclassifications are not carried out')
  })
  return async () => {
    stopped = true
    await stop()
  }
}
