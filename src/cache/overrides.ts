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
  /** Stores a target, undefined when it was deleted. Returns false if it is outdated. */
  readonly set: (stream: string, position: bigint, target: PublicTarget | undefined) => boolean
}

interface Override {
  readonly position: bigint
  readonly target: PublicTarget | undefined
}

const keyOf = ({ target }: Override) => target && addressKey(target.domain, target.aliasKey)

export const createOverrides = (shows: Position['shows']): Overrides => {
  const overrides = new Map<string, Override>()
  /** the streams whose targets are at an address: each redirect looks at one address only */
  const streams = new Map<string, Set<string>>()

  const drop = (stream: string) => {
    const override = overrides.get(stream)
    const key = override && keyOf(override)
    overrides.delete(stream)
    if (key === undefined) return
    const others = streams.get(key)
    others?.delete(stream)
    if (others?.size === 0) streams.delete(key)
  }
  const put = (stream: string, override: Override) => {
    drop(stream)
    overrides.set(stream, override)
    const key = keyOf(override)
    if (key === undefined) return
    streams.set(key, (streams.get(key) ?? new Set()).add(stream))
  }
  const has = (stream: string) => {
    const override = overrides.get(stream)
    if (override && shows(stream, override.position)) drop(stream)
    return overrides.has(stream)
  }
  /** Drops old ones that the tables show by now, also of links that nobody asks for. */
  const sweep = () => {
    for (const [stream, override] of [...firstOf(overrides, 2)]) if (has(stream)) put(stream, override)
  }

  return {
    has,
    at: (key) => {
      for (const stream of streams.get(key) ?? []) if (has(stream)) return overrides.get(stream)?.target
      return undefined
    },
    set: (stream, position, target) => {
      // of two folds that ran at once, the older one may finish last
      if (shows(stream, position) || position < (overrides.get(stream)?.position ?? 0n)) return false
      sweep()
      put(stream, { position, target })
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
