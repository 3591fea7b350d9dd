import QuickLRU from 'quick-lru'
import { type PublicTarget, targetStream } from '../queries/links/target.ts'

/** The key of an alias on a domain; a null domain is the service's own. */
export const addressKey = (domain: number | null, aliasKey: string) => `${domain ?? 0}-${aliasKey}`

interface Entry {
  readonly target: PublicTarget
  readonly epoch: number
  /** rough */
  readonly bytes: number
}

export interface EntriesOptions {
  readonly maxTargets?: number
  /** of memory for targets: one with many rules has a hundred times what a plain one has */
  readonly maxBytes?: number
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

/** Returns about how much memory a target takes: the texts of owners are what makes one large. */
const bytesOf = (value: unknown): number => {
  if (typeof value === 'string') return 32 + 2 * value.length
  if (typeof value !== 'object' || value === null) return 8
  return Object.values(value).reduce<number>((sum, one) => sum + 8 + bytesOf(one), 32)
}

/** The addresses of streams: nearly all have one. */
const createKeys = () => {
  const keys = new Map<string, string | ReadonlySet<string>>()
  const of = (stream: string): ReadonlySet<string> => {
    const known = keys.get(stream) ?? new Set()
    return typeof known === 'string' ? new Set([known]) : known
  }
  const keep = (stream: string, all: ReadonlySet<string>) => {
    const [first] = all
    if (first === undefined) keys.delete(stream)
    else keys.set(stream, all.size === 1 ? first : all)
  }
  return {
    of,
    add: (stream: string, key: string) => keep(stream, new Set([...of(stream), key])),
    remove: (stream: string, key: string) => keep(stream, new Set([...of(stream)].filter((one) => one !== key))),
  }
}

export const createEntries = ({
  maxTargets = 100_000,
  maxBytes = 128 * 2 ** 20,
  maxMisses = 10_000,
  missAge = 10_000,
}: EntriesOptions): Entries => {
  const keys = createKeys()
  let bytes = 0
  const forget = (key: string, { target, bytes: freed }: Entry) => {
    keys.remove(targetStream(target), key)
    bytes -= freed
  }
  const targets = new QuickLRU<string, Entry>({ maxSize: maxTargets, onEviction: forget })
  const misses = new QuickLRU<string, number>({ maxSize: maxMisses, maxAge: missAge })
  let epoch = 0

  const dropKey = (key: string) => {
    const entry = targets.get(key)
    if (entry === undefined) return
    forget(key, entry)
    targets.delete(key)
  }
  const drop = (stream: string) => {
    for (const key of keys.of(stream)) dropKey(key)
  }
  /** Drops what is known of a stream in another state: it may have another address now. */
  const dropOlder = (stream: string, { position }: PublicTarget) => {
    for (const key of keys.of(stream)) if (targets.get(key)?.target.position !== position) dropKey(key)
  }

  return {
    get: (key) => targets.get(key),
    isCurrent: (entry) => entry.epoch === epoch,
    isMissing: (key) => misses.get(key) === epoch,
    set: (key, target) => {
      dropKey(key)
      if (!target) {
        misses.set(key, epoch)
        return
      }
      const stream = targetStream(target)
      dropOlder(stream, target)
      keys.add(stream, key)
      const entry = { target, epoch, bytes: bytesOf(target) }
      bytes += entry.bytes
      targets.set(key, entry)
      // several at once: finding the oldest takes a look at all
      while (bytes > maxBytes && targets.size > 1) targets.evict(Math.ceil(targets.size / 8))
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
