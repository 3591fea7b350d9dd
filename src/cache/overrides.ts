import type { PublicTarget } from '../queries/links/target.ts'
import { addressKey } from './entries.ts'
import type { Position } from './progress.ts'

/**
 * Targets folded from their streams. They take precedence until the tables have reached the position of the override.
 */
export interface Overrides {
  /** Whether the stream is overridden. */
  readonly has: (stream: string) => boolean
  /** Returns the overriding target at an address. */
  readonly at: (key: string) => PublicTarget | undefined
  /** Stores the target at each of its addresses, none when it was deleted. Returns false if it is outdated. */
  readonly set: (stream: string, position: bigint, targets: readonly PublicTarget[]) => boolean
}

interface Override {
  readonly position: bigint
  readonly targets: readonly PublicTarget[]
}

const keyOf = ({ domain, aliasKey }: PublicTarget) => addressKey(domain, aliasKey)

export const createOverrides = (shows: Position['shows']): Overrides => {
  const overrides = new Map<string, Override>()
  /** the streams whose targets are at an address: each redirect looks at one address only */
  const streams = new Map<string, Set<string>>()

  const drop = (stream: string) => {
    const { targets = [] } = overrides.get(stream) ?? {}
    overrides.delete(stream)
    for (const key of targets.map(keyOf)) {
      const others = streams.get(key)
      others?.delete(stream)
      if (others?.size === 0) streams.delete(key)
    }
  }
  const put = (stream: string, override: Override) => {
    drop(stream)
    overrides.set(stream, override)
    for (const key of override.targets.map(keyOf)) streams.set(key, (streams.get(key) ?? new Set()).add(stream))
  }
  const has = (stream: string) => {
    const override = overrides.get(stream)
    if (override && shows(stream, override.position)) drop(stream)
    return overrides.has(stream)
  }
  /** Drops old overrides that the tables show by now, also of links without requests. */
  const sweep = () => {
    for (const [stream, override] of [...firstOf(overrides, 2)]) if (has(stream)) put(stream, override)
  }

  return {
    has,
    at: (key) => {
      for (const stream of streams.get(key) ?? [])
        if (has(stream)) return overrides.get(stream)?.targets.find((target) => keyOf(target) === key)
      return undefined
    },
    set: (stream, position, targets) => {
      // of two folds that ran at once, the older one may finish last
      if (shows(stream, position) || position < (overrides.get(stream)?.position ?? 0n)) return false
      sweep()
      put(stream, { position, targets })
      return true
    },
  }
}

const firstOf = function* <T>(all: Iterable<T>, count: number) {
  let left = count
  for (const one of all) {
    if (left-- === 0) return
    yield one
  }
}
