import QuickLRU from 'quick-lru'
import { type PublicTarget, targetStream } from '../queries/links/target.ts'

/** The key of an alias on a domain; a null domain is the service's own. */
export const addressKey = (domain: number | null, aliasKey: string) => `${domain ?? 0}-${aliasKey}`

interface Entry {
  readonly target: PublicTarget
  readonly epoch: number
}

export interface EntriesOptions {
  readonly maxTargets?: number
  readonly maxMisses?: number
  /** ms for which a missing alias is remembered */
  readonly missAge?: number
}

/** Cached targets and cached misses by address, each valid in the epoch it was stored in. */
export interface Entries {
  readonly get: (key: string) => Entry | undefined
  readonly isCurrent: (entry: Entry) => boolean
  readonly isMissing: (key: string) => boolean
  /** Stores what was found at an address; undefined is a miss. */
  readonly set: (key: string, target: PublicTarget | undefined) => void
  readonly drop: (stream: string) => void
  readonly dropWhere: (matches: (target: PublicTarget) => boolean) => void
  readonly dropMiss: (key: string) => void
  readonly dropMisses: () => void
  /** Makes all entries outdated without dropping them. */
  readonly startEpoch: () => void
}

export const createEntries = ({
  maxTargets = 100_000,
  maxMisses = 10_000,
  missAge = 10_000,
}: EntriesOptions): Entries => {
  const keys = new Map<string, string>()
  const targets = new QuickLRU<string, Entry>({
    maxSize: maxTargets,
    onEviction: (_, { target }) => keys.delete(targetStream(target)),
  })
  const misses = new QuickLRU<string, number>({ maxSize: maxMisses, maxAge: missAge })
  let epoch = 0

  const drop = (stream: string) => {
    const key = keys.get(stream)
    if (key === undefined) return
    keys.delete(stream)
    targets.delete(key)
  }

  return {
    get: (key) => targets.get(key),
    isCurrent: (entry) => entry.epoch === epoch,
    isMissing: (key) => misses.get(key) === epoch,
    set: (key, target) => {
      if (!target) {
        const before = targets.get(key)
        if (before) drop(targetStream(before.target))
        misses.set(key, epoch)
        return
      }
      const stream = targetStream(target)
      drop(stream)
      keys.set(stream, key)
      targets.set(key, { target, epoch })
    },
    drop,
    dropWhere: (matches) => {
      for (const { target } of targets.values()) if (matches(target)) drop(targetStream(target))
    },
    dropMiss: (key) => void misses.delete(key),
    dropMisses: () => misses.clear(),
    startEpoch: () => void epoch++,
  }
}
