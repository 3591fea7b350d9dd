import QuickLRU from 'quick-lru'
import type { ChangedLink, Target } from '../queries/target.ts'
import { isOutage } from './errors.ts'

/** What redirects are served from: targets this process remembers, each true until told otherwise. */
export interface Targets {
  /** Throws when the target is not remembered and PostgreSQL does not answer. */
  readonly get: (domain: number | null, aliasKey: string) => Promise<Target | undefined> | Target | undefined
  readonly forgetLinks: (changed: readonly ChangedLink[]) => void
  readonly forgetAccounts: (accounts: readonly number[]) => void
  /** Something may have been missed: what is remembered is asked for again before it is used, if PostgreSQL answers. */
  readonly distrust: () => void
  /** Serves this, folded from the stream, until the tables have passed the position; undefined: the link is no more. */
  readonly pin: (link: number, position: bigint, target: Target | undefined) => void
}

export interface TargetsOptions {
  readonly find: (domain: number | null, aliasKey: string) => Promise<Target | undefined>
  /** nothing can have been missed: notifications are being heard */
  readonly trusted: () => boolean
  readonly seen: () => bigint
  readonly maxTargets?: number
  readonly maxMisses?: number
  /** ms for which a missing alias is remembered */
  readonly missAge?: number
}

interface Entry {
  readonly target: Target
  readonly epoch: number
}
interface Fill {
  readonly found: Promise<Target | undefined>
  stale: boolean
}

const keyOf = (domain: number | null, aliasKey: string) => `${domain ?? 0}-${aliasKey}`
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
    onEviction: (_, { target }) => byLink.delete(target.link),
  })
  const byLink = new Map<number, string>()
  const misses = new QuickLRU<string, number>({ maxSize: maxMisses, maxAge: missAge })
  const filling = new Map<string, Fill>()
  const changedAt = new QuickLRU<number, bigint>({ maxSize: 10_000 })
  const pinned = new Map<number, { readonly position: bigint; readonly target: Target | undefined }>()
  let epoch = 0
  let doubtful = 0

  const drop = (link: number) => {
    const key = byLink.get(link)
    if (key === undefined) return
    byLink.delete(link)
    entries.delete(key)
  }

  /** A link pinned to its stream's state is served as that says, whatever the tables say. */
  const pin = (link: number) => {
    const held = pinned.get(link)
    if (held && held.position <= seen()) pinned.delete(link)
    return pinned.get(link)
  }
  const pinnedAt = (key: string) => {
    for (const [link, { target }] of pinned)
      if (pin(link) && target && keyOf(target.domain, target.aliasKey) === key) return target
    return undefined
  }

  const fill = (domain: number | null, aliasKey: string, key: string): Promise<Target | undefined> => {
    const under = filling.get(key)
    if (under && !under.stale) return under.found
    const fresh: Fill = {
      stale: false,
      found: find(domain, aliasKey)
        .then((target) => {
          const raced = fresh.stale || (target && target.position < (changedAt.get(target.link) ?? 0n))
          if (!raced) remember(key, target)
          return target && pin(target.link) ? undefined : target
        })
        .finally(() => {
          if (filling.get(key) === fresh) filling.delete(key)
        }),
    }
    filling.set(key, fresh)
    return fresh.found
  }

  const remember = (key: string, target: Target | undefined) => {
    if (!target) {
      const before = entries.get(key)
      if (before) drop(before.target.link)
      misses.set(key, epoch)
      return
    }
    drop(target.link)
    byLink.set(target.link, key)
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
      if (!isOutage(error)) throw error
    }
    doubtful = Date.now()
    return target
  }

  return {
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
    forgetLinks: (changed) => {
      for (const { link, domain, aliasKey, position } of changed) {
        const key = keyOf(domain, aliasKey)
        drop(link)
        misses.delete(key)
        changedAt.set(link, position)
        const under = filling.get(key)
        if (under) under.stale = true
      }
    },
    forgetAccounts: (accounts) => {
      const changed = new Set(accounts)
      for (const { target } of entries.values()) if (changed.has(target.account)) drop(target.link)
      misses.clear()
      filling.forEach((fill) => (fill.stale = true))
    },
    distrust: () => {
      epoch++
    },
    pin: (link, position, target) => {
      if (position <= seen()) return
      drop(link)
      changedAt.set(link, position)
      if (target) misses.delete(keyOf(target.domain, target.aliasKey))
      pinned.set(link, { position, target })
    },
  }
}
