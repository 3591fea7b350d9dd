import { setTimeout as sleep } from 'node:timers/promises'
import QuickLRU from 'quick-lru'
import { createSemaphore, within } from '../../../lib/async/semaphore.ts'
import { hostKey } from '../../../lib/blocklist.ts'
import type { Hook } from './hook.ts'
import type { Outcome } from './send.ts'

/**
 * Concurrent messages, of all accounts and of one: for webhooks whose last attempt succeeded, and for the others, which
 * may all wait for a response. A receiver may be slow: some places are reserved for accounts that have none.
 */
const sendingPlaces = { total: 500, perKey: 50, kept: 100, waiting: Infinity }
const tryingPlaces = { total: 100, perKey: 25, kept: 25, waiting: Infinity }
/**
 * Concurrent messages to one host, of all accounts and of one; some places are reserved for accounts that have none.
 */
const places = { total: 20, perKey: 10, kept: 5, waiting: Infinity }
/** The same while the host fails. */
const onePlace = { total: 1, perKey: 1, kept: 0, waiting: Infinity }
/** ms between two messages to a host, and the size of a burst */
const [gap, burst] = [10, 100]
/** failed attempts in a row before a host counts as failing, and doublings of the pause after that */
const [tolerated, doublings] = [5, 4]
/** maximum number of hosts to track */
const mostHosts = 10_000

/** Returns the name of the host of an address, in its canonical spelling and without its port. */
export const hostOf = (url: string): string => hostKey(new URL(url).hostname)

const newHost = () => ({
  places: createSemaphore<number>(places),
  onePlace: createSemaphore<number>(onePlace),
  /** failed attempts since the last accepted one */
  failures: 0,
  /** when the next message may be sent, and the next one while the host fails, in ms of `performance.now()` */
  next: 0,
  resumes: 0,
})

/** Limits the messages from all webhooks to one host, which may not want them. */
export interface Hosts {
  /**
   * Runs work that may send one message of a webhook. Waits for a turn at the host first, and then for one among all
   * hosts, so that a message that waits for its host takes no place from others.
   */
  readonly inTurn: (hook: Hook, url: string, run: () => Promise<void>) => Promise<void>
  /** Sends a message of a webhook to a host when its rate allows it, and records whether it is accepted. */
  readonly paced: (hook: Hook, url: string, send: () => Promise<Outcome>) => Promise<Outcome>
}

/**
 * Lets the webhooks of accounts take turns at each host. A host that has refused several messages in a row gets one at
 * a time, with growing pauses, from all senders together. Webhooks that it has accepted continue as before, so that
 * accounts that make the host fail do not delay its legitimate senders. `firstPause` is in ms.
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
      // a message that began to wait before the host failed needs another turn
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
