import { setTimeout as sleep } from 'node:timers/promises'
import { createSignal, type Signal } from '../../lib/async/signal.ts'

/** One stream that waits for events of its account. */
export interface Follower {
  /** number of times so far that the account may have had something new */
  readonly count: () => number
  /** Resolves once that number is more than `count`, or the signal aborts. */
  readonly changed: (count: number, signal: AbortSignal) => Promise<void>
  readonly leave: () => void
}

/** Looks for new events once for all streams of the process, and wakes those whose accounts have some. */
export interface Tail {
  /** Resolves when every later event wakes the follower. */
  readonly follow: (account: number) => Promise<Follower>
  readonly close: () => Promise<void>
}

interface TailOptions {
  /** Returns the accounts that have events after a position, and the position of the newest one. */
  readonly changedAfter: (after: bigint) => Promise<{ readonly accounts: readonly number[]; readonly newest: bigint }>
  readonly newest: () => Promise<bigint>
  /** notified when the read tables may have more */
  readonly projected: Signal
  /** the topic of `projected` */
  readonly topic: string
  /** ms between two looks while there is always something new */
  readonly interval?: number
  /** ms until a look without a notification, which may be lost */
  readonly poll?: number
}

/** Counts the streams that follow each account. */
const createFollowed = () => {
  const counts = new Map<number, number>()
  return {
    /** Returns what ends it. */
    add: (account: number) => {
      counts.set(account, (counts.get(account) ?? 0) + 1)
      return () => {
        const left = (counts.get(account) ?? 1) - 1
        if (left > 0) counts.set(account, left)
        else counts.delete(account)
      }
    },
    has: (account: number) => counts.has(account),
    isEmpty: () => counts.size === 0,
  }
}

/** Returns a pause between two looks: for `interval`, then until there may be more. */
const pausing =
  (
    { projected, topic, interval, poll }: Required<Pick<TailOptions, 'projected' | 'topic' | 'interval' | 'poll'>>,
    closed: AbortSignal,
  ) =>
  async () => {
    const known = projected.count(topic)
    await sleep(interval, undefined, { signal: closed }).catch(() => {})
    const waiting = new AbortController()
    const stop = () => waiting.abort()
    const timer = setTimeout(stop, poll)
    closed.addEventListener('abort', stop)
    await projected.after(known, waiting.signal, topic)
    clearTimeout(timer)
    closed.removeEventListener('abort', stop)
  }

/**
 * The tail reads an index and no events: what others have costs a follower nothing. Without followers, it does not
 * look.
 */
export const openTail = ({
  changedAfter,
  newest,
  projected,
  topic,
  interval = 100,
  poll = 1000,
}: TailOptions): Tail => {
  const closed = new AbortController()
  const news = createSignal()
  const pause = pausing({ projected, topic, interval, poll }, closed.signal)
  const followed = createFollowed()
  let looking: { readonly ready: Promise<void>; readonly ended: Promise<void> } | undefined

  const look = async (begin: bigint) => {
    let after = begin
    while (!followed.isEmpty() && !closed.signal.aborted) {
      // a look that fails is repeated
      const found = await changedAfter(after).catch(() => undefined)
      const topics = (found?.accounts ?? []).filter((account) => followed.has(account)).map(String)
      if (topics.length > 0) news.notify(...topics)
      after = found?.newest ?? after
      await pause()
    }
    looking = undefined
  }

  const start = () => {
    const beginning = newest()
    const ready = beginning.then(() => {})
    const ended = beginning.then(look, () => void (looking = undefined))
    return { ready, ended }
  }

  return {
    follow: async (account) => {
      const leave = followed.add(account)
      try {
        await (looking ??= start()).ready
      } catch (error) {
        leave()
        throw error
      }
      const name = String(account)
      return {
        count: () => news.count(name),
        changed: (count, signal) => news.after(count, signal, name),
        leave,
      }
    },
    close: async () => {
      closed.abort()
      await looking?.ended
    },
  }
}
