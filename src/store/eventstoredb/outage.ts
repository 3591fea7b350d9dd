import { setTimeout as sleep } from 'node:timers/promises'

/** What is known of the server from the calls of this process. */
export interface Outage {
  /** Returns the cause while the server is known to be down. */
  readonly cause: () => { readonly error: unknown } | undefined
  readonly hasAnswered: () => boolean
  /** Returns whether calls are left without an answer now. */
  readonly isSuspected: () => boolean
  /** Notes that a call waits; the function it returns notes that it does not wait any more. */
  readonly waiting: () => () => void
  /** Notes that the server has answered. */
  readonly answered: () => void
  /** Notes that the time of a call was over without an answer: from now on the server is probed until it answers. */
  readonly failed: (error: unknown) => void
}

interface OutageParts {
  /** Resolves when the server answers. */
  readonly probe: () => Promise<unknown>
  readonly closed: AbortSignal
}

/** ms without any answer after which an outage is suspected */
const suspicion = 900
/** ms between probes */
const probeInterval = 250

/** Remembers that the server does not answer, so that each further call need not find out on its own. */
export const createOutage = ({ probe, closed }: OutageParts): Outage => {
  const began = new Set<{ readonly at: number }>()
  let answeredAt = 0
  let cause: { readonly error: unknown } | undefined

  const answered = () => {
    answeredAt = Date.now()
    cause = undefined
  }
  const probeUntilAnswered = async () => {
    // at once: it may be only this call that the server does not answer
    while (cause && !closed.aborted) {
      await probe().then(answered, () => {})
      if (cause) await sleep(probeInterval, undefined, { ref: false })
    }
  }
  return {
    cause: () => cause,
    hasAnswered: () => answeredAt > 0,
    isSuspected: () => {
      const now = Date.now()
      return cause !== undefined || [...began].some(({ at }) => at > answeredAt && now - at > suspicion)
    },
    waiting: () => {
      const one = { at: Date.now() }
      began.add(one)
      return () => void began.delete(one)
    },
    answered,
    failed: (error) => {
      if (cause || closed.aborted) return
      cause = { error }
      void probeUntilAnswered()
    },
  }
}
