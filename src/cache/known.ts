import QuickLRU from 'quick-lru'

/** What was found by ids of accounts. */
export interface Known<Ids extends readonly number[], T> {
  readonly find: (...ids: Ids) => Promise<T>
  /** Invalidates what was found by one of these accounts. */
  readonly forget: (accounts: readonly number[]) => void
  readonly forgetAll: () => void
}

/** Keeps what was found until one of its accounts changes, at most a minute. */
export const openKnown = <Ids extends readonly number[], T>(read: (...ids: Ids) => Promise<T>): Known<Ids, T> => {
  const cached = new QuickLRU<string, { readonly ids: Ids; readonly found: T }>({ maxSize: 10_000, maxAge: 60_000 })
  let changes = 0
  return {
    find: async (...ids) => {
      const name = ids.join(' ')
      const before = cached.get(name)
      if (before) return before.found
      const change = changes
      const found = await read(...ids)
      // what was read before a change must not be cached after it
      if (change === changes) cached.set(name, { ids, found })
      return found
    },
    forget: (accounts) => {
      changes++
      const changed = new Set(accounts)
      for (const [name, { ids }] of cached) if (ids.some((id) => changed.has(id))) cached.delete(name)
    },
    forgetAll: () => {
      changes++
      cached.clear()
    },
  }
}
