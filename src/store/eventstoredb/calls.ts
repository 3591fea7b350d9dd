import { setTimeout as sleep } from 'node:timers/promises'
import type { EventStoreDBClient } from '@eventstore/db-client'
import { StoreRefused, StoreUnavailable } from '../../events/store.ts'
import { backOff } from '../../lib/async/backoff.ts'
import { TimedOut } from '../../lib/async/timeout.ts'
import { createOutage } from './outage.ts'
import { hintOf, refusalOf, speaksTls, usesTls } from './cause.ts'
import { type Clients, ConnectionClosed } from './clients.ts'
import { library } from './library.ts'

/**
 * One attempt at a call. It has to settle within `ms`, with `TimedOut` when the server is silent. `closed` aborts when
 * the store is closed.
 */
export type Attempt<T> = (client: EventStoreDBClient, ms: number, closed: AbortSignal) => Promise<T>

export interface Calls {
  /** The time by which a call that begins now has to be answered: ms since the epoch. */
  readonly deadline: () => number
  /**
   * Repeats an attempt until the server answers; `isAnswer` says which errors are answers. The outcome of a failed
   * attempt is unknown, so each attempt has to send the same request. Throws `StoreUnavailable` at the deadline
   * `until`.
   */
  readonly call: <T>(attempt: Attempt<T>, until: number, isAnswer?: (error: unknown) => boolean) => Promise<T>
  readonly unreachable: (cause?: unknown) => StoreUnavailable
  /** Returns what is wrong while the server does not answer. */
  readonly problem: () => string | undefined
}

/**
 * Each attempt gets this part of the time that is left (3 s of 5 s, then 1.2 s, …), so that there is always time for
 * another.
 */
const share = 0.6
/** ms: with less time left, no further attempt is made */
const shortestAttempt = 100

/** The server understood the request and refused it: a retry cannot help. */
const isRefusal = (error: unknown) =>
  [
    library().WrongExpectedVersionError,
    library().MaxAppendSizeExceededError,
    library().StreamNotFoundError,
    library().StreamDeletedError,
    library().AccessDeniedError,
    library().InvalidArgumentError,
  ].some((kind) => error instanceof kind)

/** The server did not answer in time, or the client has only a closed connection: another client may reach it. */
export const isSilence = (error: unknown): boolean =>
  error instanceof TimedOut || error instanceof library().DeadlineExceededError || error instanceof ConnectionClosed

/** ms before a call is refused during an outage: callers that repeat it at once must not use up the processor */
const refusalPause = 10
/** ms for one probe of a server that did not answer */
const probeTime = 1000

/** Returns what says why a server cannot be reached. `lookForTls` finds out whether it waits for TLS. */
const createReasons = ({ address, tls }: Pick<Clients, 'address' | 'tls'>) => {
  let isTlsMissing = false
  return {
    lookForTls: async () => {
      if (!tls) isTlsMissing = await speaksTls(address)
    },
    unreachable: (cause?: unknown) => {
      const hint = isTlsMissing ? usesTls : hintOf(cause)
      const place = `the event store at ${address} (EVENTSTORE_URL) cannot be reached`
      const Kind = hint?.isFinal ? StoreRefused : StoreUnavailable
      return new Kind(hint ? `${place}: ${hint.text}` : place, { cause })
    },
  }
}

/**
 * Calls with retries. `timeoutMs` is the time in ms for one call, all its attempts included. After a call without an
 * answer, `probe` is tried until the server answers; other calls are refused meanwhile.
 */
export const createCalls = (
  clients: Clients,
  timeoutMs: number,
  closed: AbortSignal,
  probe: Attempt<unknown> = async () => {},
): Calls => {
  const probeOnce = async () => {
    const client = clients.current()
    await probe(client, probeTime, closed).catch((error: unknown) => {
      if (isRefusal(error)) return
      if (isSilence(error)) clients.replace(client)
      throw error
    })
  }
  const outage = createOutage({ probe: probeOnce, closed })

  const { unreachable, lookForTls } = createReasons(clients)

  const tryUntil: Calls['call'] = async (attempt, until, isAnswer = isRefusal) => {
    const { pause } = backOff({ from: 50, to: 500 })
    for (let problem: unknown; ; await pause(until - Date.now())) {
      const left = until - Date.now()
      if (left < shortestAttempt || closed.aborted) {
        if (problem !== undefined) outage.failed(problem)
        // a server that has answered before is only away
        if (!outage.hasAnswered() && !closed.aborted) await lookForTls()
        throw unreachable(problem)
      }
      const client = clients.current()
      try {
        const answer = await attempt(client, left * share, closed)
        outage.answered()
        return answer
      } catch (error) {
        if (error instanceof library().AccessDeniedError) throw new StoreRefused(refusalOf(error), { cause: error })
        if (isAnswer(error)) {
          outage.answered()
          throw error
        }
        if (hintOf(error)?.isFinal) throw unreachable(error)
        if (isSilence(error)) clients.replace(client)
        problem = error
      }
    }
  }

  const call: Calls['call'] = async (...args) => {
    if (outage.cause()) await sleep(refusalPause)
    const known = outage.cause()
    if (known) throw unreachable(known.error)
    const ended = outage.waiting()
    return tryUntil(...args).finally(ended)
  }

  return {
    deadline: () => Date.now() + timeoutMs,
    call,
    unreachable,
    problem: () => (outage.isSuspected() ? unreachable().message : undefined),
  }
}
