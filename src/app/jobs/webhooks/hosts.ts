import { setTimeout as sleep } from 'node:timers/promises'
import QuickLRU from 'quick-lru'
import { createSemaphore, within } from '../../../lib/async/semaphore.ts'
import { hostKey } from '../../../lib/blocklist.ts'
import type { Hook } from './hook.ts'
import type { Outcome } from './send.ts'

/**
 * Messages that are sent at the same time, of all accounts and of one: of webhooks whose last attempt was successful,
 * and of the others, which may all wait for an answer. A receiver may take its time, too: some places are for accounts
 * that have none.
 */
const sendingPlaces = { total: 500, perKey: 50, kept: 100, waiting: Infinity }
const tryingPlaces = { total: 100, perKey: 25, kept: 25, waiting: Infinity }
/** Messages to one host at the same time, of all accounts and of one; some places are for accounts that have none. */
const places = { total: 20, perKey: 10, kept: 5, waiting: Infinity }
/** The same while the host fails. */
const onePlace = { total: 1, perKey: 1, kept: 0, waiting: Infinity }
/** ms from one message to a host to the next, of which so many may come at once */
const [gap, burst] = [10, 100]
/** attempts that fail in a row before a host counts as failing, and doublings of the pause after that */
const [tolerated, doublings] = [5, 4]
/** hosts that are known at most */
const mostHosts = 10_000

/** Returns the name of the host of an address, in one spelling and without its port. */
export const hostOf = (url: string): string => hostKey(new URL(url).hostname)

const newHost = () => ({
  places: createSemaphore<number>(places),
  onePlace: createSemaphore<number>(onePlace),
  /** attempts that have failed since it has last accepted one */
  failures: 0,
  /** when the next message may be sent, and the next one while the host fails, in ms of `performance.now()` */
  next: 0,
  resumes: 0,
})

/** What one host gets of all webhooks together: nobody has asked whether it wants their messages. */
export interface Hosts {
  /**
   * Runs something that may send one message of a webhook. It waits for its turn at the host first, and then for one
   * among all hosts, so that a message that waits for its host takes no place from others.
   */
  readonly inTurn: (hook: Hook, url: string, run: () => Promise<void>) => Promise<void>
  /** Sends a message of a webhook to a host when its rate allows it, and notes whether it is accepted. */
  readonly paced: (hook: Hook, url: string, send: () => Promise<Outcome>) => Promise<Outcome>
}

/**
 * Lets webhooks take turns at each host, by their accounts. A host that has refused several messages in a row gets one
 * at a time, with pauses that grow, whoever sends it; only webhooks that it has accepted go on as before, so that those
 * who make it fail delay nobody whom it serves. `firstPause` is in ms.
 */
export const createHosts = (firstPause: number, signal: AbortSignal): Hosts => {
  const known = new QuickLRU<string, ReturnType<typeof newHost>>({ maxSize: mostHosts })
  const get = (url: string) => {
    const name = hostOf(url)
    const host = known.get(name) ?? newHost()
    known.set(name, host)
    return host
  }
  const until = (time: number) =>
    time > performance.now() ? sleep(time - performance.now(), undefined, { signal }).catch(() => {}) : undefined
  const lanes = { sending: createSemaphore<number>(sendingPlaces), trying: createSemaphore<number>(tryingPlaces) }
  return {
    inTurn: async (hook, url, given) => {
      const run = () => within(hook.failing ? lanes.trying : lanes.sending, hook.account, given)
      const host = get(url)
      const isRefused = () => host.failures >= tolerated && hook.acceptedBy !== hostOf(url)
      // one that began to wait before the host has failed asks for another turn
      if (!isRefused()) return within(host.places, hook.account, async () => (isRefused() ? undefined : run()))
      await within(host.onePlace, hook.account, async () => {
        await until(host.resumes)
        await run()
      })
    },
    paced: async (hook, url, send) => {
      const host = get(url)
      host.next = Math.max(host.next, performance.now() - burst * gap) + gap
      await until(host.next)
      const outcome = await send()
      host.failures = outcome.delivered ? 0 : host.failures + 1
      hook.acceptedBy = outcome.delivered ? hostOf(url) : undefined
      const doubled = Math.min(host.failures - tolerated, doublings)
      host.resumes = doubled < 0 ? 0 : performance.now() + firstPause * 2 ** doubled
      return outcome
    },
  }
}
