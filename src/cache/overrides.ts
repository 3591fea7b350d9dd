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

export const createOverrides = (shows: Position['shows']): Overrides => {
  const overrides = new Map<string, { readonly position: bigint; readonly target: PublicTarget | undefined }>()

  const has = (stream: string) => {
    const override = overrides.get(stream)
    if (override && shows(stream, override.position)) overrides.delete(stream)
    return overrides.has(stream)
  }

  return {
    has,
    at: (key) => {
      for (const [stream, { target }] of overrides)
        if (has(stream) && target && addressKey(target.domain, target.aliasKey) === key) return target
      return undefined
    },
    set: (stream, position, target) => {
      // of two folds that ran at once, the older one may finish last
      if (shows(stream, position) || position < (overrides.get(stream)?.position ?? 0n)) return false
      overrides.set(stream, { position, target })
      return true
    },
  }
}
