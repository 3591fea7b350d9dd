import QuickLRU from 'quick-lru'
import { type Changed, type PublicTarget, targetStream, partStreams, type Target } from '../queries/target.ts'
import { isUnavailable } from '../lib/unavailable.ts'

/** What public addresses are served from: the links and bio pages this process remembers, each true until told otherwise. */
export interface Targets {
  /** Throws when the target is not remembered and PostgreSQL does not answer. */
  readonly get: (
    domain: number | null,
    aliasKey: string,
  ) => Promise<PublicTarget | undefined> | PublicTarget | undefined
  /** Something stands there, and it need not be looked up. */
  readonly has: (domain: number | null, aliasKey: string) => boolean
  readonly forget: (changed: readonly Changed[]) => void
  readonly forgetAccounts: (accounts: readonly number[]) => void
  /** Something may have been missed: what is remembered is asked for again before it is used, if PostgreSQL answers. */
  readonly invalidateAll: () => void
  /** Serves this, folded from the stream, until the tables have passed the position; undefined: it is no more. */
  readonly override: (stream: string, position: bigint, target: PublicTarget | undefined) => void
}

export interface TargetsOptions {
  readonly find: (domain: number | null, aliasKey: string) => Promise<PublicTarget | undefined>
  /** nothing can have been missed: notifications are being heard */
  readonly trusted: () => boolean
  readonly seen: () => bigint
  readonly maxTargets?: number
  readonly maxMisses?: number
  /** ms for which a missing alias is remembered */
  readonly missAge?: number
}

interface Entry {
  readonly target: PublicTarget
  readonly epoch: number
}
interface Fill {
  readonly found: Promise<PublicTarget | undefined>
  stale: boolean
}

const keyOf = (domain: number | null, aliasKey: string) => `${domain ?? 0}-${aliasKey}`
const parts = ({ interstitial }: Target) => (interstitial ? partStreams(interstitial) : [])
/** streams that stand at no address, but links may show them */
const canBeShown = /^(?:splash|overlay|pixel)-/
const patience = 50
const pause = 1000

export const openTargets = ({
  find,
  trusted,
  seen,
  maxTargets = 100_000,
  maxMisses = 10_000,
  missAge = 10_000,
}: TargetsOptions): Targets => {
  const entries = new QuickLRU<string, Entry>({
    maxSize: maxTargets,
    onEviction: (_, { target }) => byStream.delete(targetStream(target)),
  })
  const byStream = new Map<string, string>()
  const misses = new QuickLRU<string, number>({ maxSize: maxMisses, maxAge: missAge })
  const filling = new Map<string, Fill>()
  const changedAt = new QuickLRU<string, bigint>({ maxSize: 10_000 })
  const pinned = new Map<string, { readonly position: bigint; readonly target: PublicTarget | undefined }>()
  let epoch = 0
  let doubtful = 0

  const drop = (stream: string) => {
    const key = byStream.get(stream)
    if (key === undefined) return
    byStream.delete(stream)
    entries.delete(key)
  }

  const dropWhere = (changed: (target: PublicTarget) => boolean) => {
    for (const { target } of entries.values()) if (changed(target)) drop(targetStream(target))
    filling.forEach((fill) => (fill.stale = true))
  }

  /** What is pinned to its stream's state is served as that says, whatever the tables say. */
  const overrideOf = (stream: string) => {
    const held = pinned.get(stream)
    if (held && held.position <= seen()) pinned.delete(stream)
    return pinned.get(stream)
  }
  const pinnedAt = (key: string) => {
    for (const [stream, { target }] of pinned)
      if (overrideOf(stream) && target && keyOf(target.domain, target.aliasKey) === key) return target
    return undefined
  }

  const fill = (domain: number | null, aliasKey: string, key: string): Promise<PublicTarget | undefined> => {
    const under = filling.get(key)
    if (under && !under.stale) return under.found
    const fresh: Fill = {
      stale: false,
      found: find(domain, aliasKey)
        .then((target) => {
          const raced = fresh.stale || (target && target.position < (changedAt.get(targetStream(target)) ?? 0n))
          if (!raced) remember(key, target)
          // the link may have been pinned while the tables were asked
          return pinnedAt(key) ?? (target && overrideOf(targetStream(target)) ? undefined : target)
        })
        .finally(() => {
          if (filling.get(key) === fresh) filling.delete(key)
        }),
    }
    filling.set(key, fresh)
    return fresh.found
  }

  const remember = (key: string, target: PublicTarget | undefined) => {
    if (!target) {
      const before = entries.get(key)
      if (before) drop(targetStream(before.target))
      misses.set(key, epoch)
      return
    }
    drop(targetStream(target))
    byStream.set(targetStream(target), key)
    entries.set(key, { target, epoch })
  }

  /** Asks again, but an answer that does not come soon is not waited for: an old target is better than none. */
  const checked = async (domain: number | null, key: string, { target }: Entry) => {
    const late = Symbol()
    const timer = new Promise<typeof late>((resolve) => setTimeout(resolve, patience, late).unref())
    try {
      const found = await Promise.race([fill(domain, target.aliasKey, key), timer])
      if (found !== late) return found
    } catch (error) {
      if (!isUnavailable(error)) throw error
    }
    doubtful = Date.now()
    return target
  }

  return {
    has: (domain, aliasKey) => entries.has(keyOf(domain, aliasKey)),
    get: (domain, aliasKey) => {
      const key = keyOf(domain, aliasKey)
      const held = pinned.size > 0 ? pinnedAt(key) : undefined
      if (held) return held
      const sure = trusted()
      const entry = entries.get(key)
      if (entry) {
        if ((entry.epoch === epoch && sure) || Date.now() - doubtful < pause) return entry.target
        return checked(domain, key, entry)
      }
      if (sure && misses.get(key) === epoch) return undefined
      return fill(domain, aliasKey, key)
    },
    forget: (changed) => {
      const shown = new Set(changed.flatMap(({ stream }) => (canBeShown.test(stream) ? [stream] : [])))
      if (shown.size > 0) dropWhere((target) => 'link' in target && parts(target).some((stream) => shown.has(stream)))
      for (const { stream, domain, aliasKey, position } of changed) {
        if (aliasKey === null) continue
        const key = keyOf(domain, aliasKey)
        drop(stream)
        misses.delete(key)
        changedAt.set(stream, position)
        const under = filling.get(key)
        if (under) under.stale = true
      }
    },
    forgetAccounts: (accounts) => {
      const changed = new Set(accounts)
      dropWhere(({ account }) => changed.has(account))
      misses.clear()
    },
    invalidateAll: () => {
      epoch++
      filling.forEach((fill) => (fill.stale = true))
    },
    override: (stream, position, target) => {
      // of two that were read at once the older one may come last
      if (position <= seen() || position < (pinned.get(stream)?.position ?? 0n)) return
      drop(stream)
      changedAt.set(stream, position)
      if (target) misses.delete(keyOf(target.domain, target.aliasKey))
      pinned.set(stream, { position, target })
    },
  }
}
