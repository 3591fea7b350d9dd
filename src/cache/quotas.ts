import { setTimeout as sleep } from 'node:timers/promises'
import QuickLRU from 'quick-lru'
import { batch } from '../lib/async/batch.ts'
import { problem, type Problem, sentenceOf } from '../lib/problems/problem.ts'
import type { QuotaKind } from '../queries/accounts/quota.ts'

/** The account has as many resources of a kind as it may have. */
export class QuotaExceeded extends Error {
  override readonly name = 'QuotaExceeded'
  readonly problem: Problem
  constructor(kind: QuotaKind, limit: number) {
    const reason = problem('quota_exceeded', { what: kind, max: kind === 'image' ? limit / 1e6 : limit })
    super(sentenceOf(reason))
    this.problem = reason
  }
}

export type QuotaLimits = Readonly<Record<QuotaKind, number>>

export interface QuotaOptions {
  /** 0 = unlimited */
  readonly limits: QuotaLimits
  /** Returns how much an account uses, as the tables have it. */
  readonly used: (account: number, kind: QuotaKind) => Promise<number>
  /** Resolves once the tables contain a position, or after a while. */
  readonly projected: (position: bigint) => Promise<unknown>
  /** ms that a refusal waits for that; while the tables lag longer, it is final */
  readonly timeoutMs?: number
}

/** Ends a reservation: with the position of the event that uses it, or without one when nothing was created. */
export type EndReservation = (position?: bigint) => void

export interface Quotas {
  /** Reserves room for what is about to be created. Throws `QuotaExceeded`. */
  readonly reserve: (account: number, kind: QuotaKind, amount?: number) => Promise<EndReservation>
}

/**
 * Without a look at the tables, an account may create a tenth of the room that it had at the last look; close to the
 * limit, nothing.
 */
const spareOf = (room: number) => (room >= 1000 ? Math.floor(room / 10) : 0)

type QuotaQuery = { readonly account: number; readonly kind: QuotaKind }
/** One look answers all that ask before it begins, such as the rows of a bulk request. */
const createLook = (used: QuotaOptions['used']) =>
  batch(10_000, async (asked: readonly QuotaQuery[]) => {
    const looks = new Map<string, Promise<number>>()
    return Promise.all(
      asked.map(({ account, kind }) => {
        const key = `${kind} ${account}`
        const found = looks.get(key) ?? used(account, kind)
        looks.set(key, found)
        return found
      }),
    )
  })

/** Counts what is reserved of each kind and account, and not known to be in the tables yet. */
const createReserved = (projected: QuotaOptions['projected']) => {
  const amounts = new Map<string, number>()
  /** resolves when the newest that was created is known to be in the tables */
  const settling = new Map<string, Promise<void>>()
  const release = (key: string, amount: number) => {
    const left = (amounts.get(key) ?? 0) - amount
    if (left > 0) amounts.set(key, left)
    else amounts.delete(key)
  }
  return {
    /** Returns how much was reserved before. */
    add: (key: string, amount: number) => {
      const before = amounts.get(key) ?? 0
      amounts.set(key, before + amount)
      return before
    },
    release,
    settling: (key: string) => settling.get(key),
    /** Releases what was created once the tables have it. */
    settle: (key: string, position: bigint, amount: number) => {
      const settled: Promise<void> = projected(position)
        .then(
          () => {},
          () => {},
        )
        .then(() => {
          release(key, amount)
          if (settling.get(key) === settled) settling.delete(key)
        })
      settling.set(key, settled)
    },
  }
}

/**
 * Enforces the quotas of accounts. Requests at the same time count each other, in the order in which they came, until
 * the tables contain what they have created. So one process never exceeds a quota. Several processes see each other in
 * the tables only: they may exceed it by what they create within the lag of the tables.
 */
export const openQuotas = ({ limits, used, projected, timeoutMs = 1000 }: QuotaOptions): Quotas => {
  const reserved = createReserved(projected)
  const spares = new QuickLRU<string, number>({ maxSize: 10_000 })

  const look = createLook(used)
  const takeSpare = (key: string, amount: number) => {
    const spare = spares.get(key) ?? 0
    if (spare < amount) return false
    spares.set(key, spare - amount)
    return true
  }

  /** Takes room. Throws `QuotaExceeded`. */
  const take = async (account: number, kind: QuotaKind, amount: number) => {
    const limit = limits[kind]
    const key = `${kind} ${account}`
    const before = reserved.add(key, amount)
    try {
      if (takeSpare(key, amount)) return
      const room = limit - (await look({ account, kind })) - before - amount
      if (room < 0) throw new QuotaExceeded(kind, limit)
      spares.set(key, spareOf(room))
    } catch (error) {
      reserved.release(key, amount)
      throw error
    }
  }

  /** Takes room; a refusal waits for the tables, because what they have just got may have been counted twice. */
  const takeAtLast = async (account: number, kind: QuotaKind, amount: number) => {
    const end = performance.now() + timeoutMs
    const key = `${kind} ${account}`
    for (;;) {
      const before = reserved.settling(key)
      try {
        return await take(account, kind, amount)
      } catch (error) {
        // what was counted twice may have settled during the look
        const settled = reserved.settling(key) ?? before
        const ms = end - performance.now()
        if (!(error instanceof QuotaExceeded) || !settled || ms <= 0) throw error
        await Promise.race([settled, sleep(ms, undefined, { ref: false })])
      }
    }
  }

  const reserve: Quotas['reserve'] = async (account, kind, amount = 1) => {
    if (limits[kind] === 0) return () => {}
    const key = `${kind} ${account}`
    await takeAtLast(account, kind, amount)
    return (position) => {
      if (position === undefined) reserved.release(key, amount)
      else reserved.settle(key, position, amount)
    }
  }
  return { reserve }
}
