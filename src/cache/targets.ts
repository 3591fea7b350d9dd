import QuickLRU from 'quick-lru'
import { withTimeout } from '../lib/async/timeout.ts'
import { isUnavailable, Unavailable } from '../lib/unavailable.ts'
import type { Changed } from '../queries/history/changed.ts'
import { partStreams, type PublicTarget, targetStream } from '../queries/links/target.ts'
import { addressKey, createEntries, type EntriesOptions } from './entries.ts'
import { createLookups, type FoundTarget } from './lookups.ts'
import { createOverrides } from './overrides.ts'
import type { Position } from './progress.ts'

/** The links, bio pages and QR codes that this process has cached; public addresses are served from here. */
export interface Targets {
  /**
   * Returns a cached target at once, otherwise looks it up. Rejects when it is not cached and PostgreSQL is
   * unavailable.
   */
  readonly get: (domain: number | null, aliasKey: string) => Promise<FoundTarget> | FoundTarget
  /** Drops everything that depends on these streams. */
  readonly invalidate: (changed: readonly Changed[]) => void
  /** Drops everything of these accounts, and all misses. */
  readonly invalidateAccounts: (accounts: readonly number[]) => void
  /**
   * Changes may have been missed: every entry is looked up again before it is served, as long as PostgreSQL answers.
   */
  readonly invalidateAll: () => void
  /**
   * Serves a target folded from its stream, at each of its addresses, until the tables have reached the position of the
   * override; none: it was deleted.
   */
  readonly override: (stream: string, position: bigint, targets: readonly PublicTarget[]) => void
}

export interface TargetsOptions extends EntriesOptions {
  readonly find: (domain: number | null, aliasKey: string) => Promise<FoundTarget>
  /** Whether notifications arrive, so that no change can have been missed. */
  readonly trusted: () => boolean
  readonly shows: Position['shows']
}

/** streams without an address of their own, which links may show */
const isPart = /^(?:splash|overlay|pixel)-/
const showsAny = (target: PublicTarget, streams: ReadonlySet<string>) =>
  'link' in target &&
  target.interstitial !== undefined &&
  partStreams(target.interstitial).some((stream) => streams.has(stream))

/** ms that a visitor waits for a newer target */
const timeoutMs = 50
/** ms for which outdated targets are served without a lookup after one failed */
const pause = 1000

/**
 * Looks up outdated targets again. An outdated target is better than none: it is served when the lookup fails or is
 * slow.
 */
const createRevalidation = (find: TargetsOptions['find']) => {
  let failedAt = -Infinity
  return {
    paused: () => performance.now() - failedAt < pause,
    revalidate: async (domain: number | null, target: PublicTarget): Promise<FoundTarget> => {
      try {
        return await withTimeout(timeoutMs, find(domain, target.aliasKey), () => new Unavailable('a lookup was slow'))
      } catch (error) {
        if (!isUnavailable(error)) throw error
      }
      failedAt = performance.now()
      return target
    },
  }
}

export const openTargets = ({ find, trusted, shows, ...sizes }: TargetsOptions): Targets => {
  const entries = createEntries(sizes)
  const overrides = createOverrides(shows)
  const changedAt = new QuickLRU<string, bigint>({ maxSize: 10_000 })
  const isOutdated = (found: FoundTarget) =>
    found !== undefined && found.position < (changedAt.get(targetStream(found)) ?? 0n)
  const lookups = createLookups(find, (key, found, outdated) => {
    if (!outdated && !isOutdated(found)) entries.set(key, found)
    // the target may have been overridden during the lookup
    return overrides.at(key) ?? (found && overrides.has(targetStream(found)) ? undefined : found)
  })
  const { paused, revalidate } = createRevalidation(lookups.find)

  return {
    get: (domain, aliasKey) => {
      const key = addressKey(domain, aliasKey)
      const override = overrides.at(key)
      if (override) return override
      const complete = trusted()
      const entry = entries.get(key)
      if (entry)
        return (complete && entries.isCurrent(entry)) || paused() ? entry.target : revalidate(domain, entry.target)
      return complete && entries.isMissing(key) ? undefined : lookups.find(domain, aliasKey)
    },
    invalidate: (changed) => {
      const parts = new Set(changed.flatMap(({ stream }) => (isPart.test(stream) ? [stream] : [])))
      if (parts.size > 0) {
        entries.dropWhere((target) => showsAny(target, parts))
        lookups.invalidateAll()
      }
      for (const { stream, domain, aliasKey, position } of changed) {
        if (aliasKey === null) continue
        const key = addressKey(domain, aliasKey)
        entries.drop(stream)
        entries.dropMiss(key)
        changedAt.set(stream, position)
        lookups.invalidate(key)
      }
    },
    invalidateAccounts: (accounts) => {
      const changed = new Set(accounts)
      entries.dropWhere(({ account }) => changed.has(account))
      lookups.invalidateAll()
      entries.dropMisses()
    },
    invalidateAll: () => {
      entries.startEpoch()
      lookups.invalidateAll()
    },
    override: (stream, position, folded) => {
      if (!overrides.set(stream, position, folded)) return
      entries.drop(stream)
      changedAt.set(stream, position)
      for (const { domain, aliasKey } of folded) entries.dropMiss(addressKey(domain, aliasKey))
    },
  }
}
