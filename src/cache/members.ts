import QuickLRU from 'quick-lru'
import type { Membership } from '../queries/accounts/member.ts'

/** What people are in accounts that are not their own. */
export interface Members {
  /** Returns what a person is in an account, undefined when they are no member. */
  readonly find: (account: number, person: number) => Promise<Membership | undefined>
  /** Invalidates those of accounts, and of the people who sign in to them. */
  readonly forget: (accounts: readonly number[]) => void
  readonly forgetAll: () => void
}

interface Known {
  readonly account: number
  readonly person: number
  readonly found: Membership | undefined
}

/** Keeps what was found until the account or the person changes, at most a minute. */
export const openMembers = (read: Members['find']): Members => {
  const cached = new QuickLRU<string, Known>({ maxSize: 10_000, maxAge: 60_000 })
  let changes = 0
  return {
    find: async (account, person) => {
      const name = `${account} ${person}`
      const before = cached.get(name)
      if (before) return before.found
      const change = changes
      const found = await read(account, person)
      // what was read before a change must not be cached after it
      if (change === changes) cached.set(name, { account, person, found })
      return found
    },
    forget: (accounts) => {
      changes++
      const changed = new Set(accounts)
      for (const [name, { account, person }] of cached)
        if (changed.has(account) || changed.has(person)) cached.delete(name)
    },
    forgetAll: () => {
      changes++
      cached.clear()
    },
  }
}
