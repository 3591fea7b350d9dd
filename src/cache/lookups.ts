import type { PublicTarget } from '../queries/links/target.ts'
import { addressKey } from './entries.ts'

export type FoundTarget = PublicTarget | undefined

interface Lookup {
  readonly found: Promise<FoundTarget>
  outdated: boolean
}

/** Lookups in progress. Requests for the same address share one, unless something changed since it began. */
export interface Lookups {
  readonly find: (domain: number | null, aliasKey: string) => Promise<FoundTarget>
  readonly invalidate: (key: string) => void
  readonly invalidateAll: () => void
}

/** `settle` receives what was found, and whether a change overtook the lookup; it returns what to serve. */
export const createLookups = (
  find: (domain: number | null, aliasKey: string) => Promise<FoundTarget>,
  settle: (key: string, found: FoundTarget, outdated: boolean) => FoundTarget,
): Lookups => {
  const running = new Map<string, Lookup>()

  const start = (domain: number | null, aliasKey: string, key: string) => {
    const lookup: Lookup = {
      outdated: false,
      found: find(domain, aliasKey)
        .then((found) => settle(key, found, lookup.outdated))
        .finally(() => {
          if (running.get(key) === lookup) running.delete(key)
        }),
    }
    running.set(key, lookup)
    return lookup.found
  }
  const invalidate = (lookup: Lookup | undefined) => {
    if (lookup) lookup.outdated = true
  }

  return {
    find: (domain, aliasKey) => {
      const key = addressKey(domain, aliasKey)
      const shared = running.get(key)
      return shared && !shared.outdated ? shared.found : start(domain, aliasKey, key)
    },
    invalidate: (key) => invalidate(running.get(key)),
    invalidateAll: () => running.forEach(invalidate),
  }
}
