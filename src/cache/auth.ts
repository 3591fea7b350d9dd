import { timingSafeEqual } from 'node:crypto'
import QuickLRU from 'quick-lru'
import type { Open } from '../events/openenum.ts'
import { allScopes, type Scope } from '../events/scope.ts'
import type { KeyRow } from '../queries/key.ts'
import { hashKey, keyIdOf, presentedKey } from '../security/apikeys.ts'

export type Authenticated =
  | { readonly ok: true; readonly account: number; readonly key: string; readonly scopes: readonly Open<Scope>[] }
  | {
      readonly ok: false
      readonly problem: 'invalid' | 'expired' | 'disabled'
      readonly account?: number
      readonly key?: string
    }

export interface Auth {
  readonly authenticate: (header: string | undefined, now: Date) => Promise<Authenticated>
  /** Invalidates the keys of accounts whose status or keys have changed. */
  readonly forget: (accounts: readonly number[]) => void
  readonly forgetAll: () => void
}

/** compared with when a key does not exist, so that it takes as long as one that does */
const noHash = Buffer.alloc(32)

/** ms for which an unknown key is remembered: a client with a revoked key repeats its request */
const unknownAge = 10_000

/** Caches API keys until their account changes, at most a minute. `compare` must be timing-safe; it runs once whether the key exists or not. */
export const openAuth = (
  pepper: Buffer,
  find: (key: string) => Promise<KeyRow | undefined>,
  compare: (a: Buffer, b: Buffer) => boolean = timingSafeEqual,
): Auth => {
  const cached = new QuickLRU<string, KeyRow>({ maxSize: 10_000, maxAge: 60_000 })
  const unknown = new QuickLRU<string, true>({ maxSize: 10_000, maxAge: unknownAge })
  let changes = 0

  const lookUp = async (id: string) => {
    const known = cached.get(id)
    if (known || unknown.has(id)) return known
    const before = changes
    const row = await find(id)
    // a row read before a change must not be cached after it
    if (before === changes) {
      if (row) cached.set(id, row)
      else unknown.set(id, true)
    }
    return row
  }

  return {
    authenticate: async (header, now) => {
      const key = presentedKey(header)
      const id = key && keyIdOf(key)
      if (!key || !id) return { ok: false, problem: 'invalid' }
      const row = await lookUp(id)
      const matches = compare(hashKey(pepper, key), row ? Buffer.from(row.hash, 'base64url') : noHash)
      if (!row || !matches || row.status === 'erased') return { ok: false, problem: 'invalid' }
      if (row.expires && row.expires <= now) return { ok: false, problem: 'expired' }
      if (row.status === 'disabled') return { ok: false, problem: 'disabled', account: row.account, key: id }
      return { ok: true, account: row.account, key: id, scopes: allScopes }
    },
    forget: (accounts) => {
      changes++
      // a change of an account may be a new key
      unknown.clear()
      const changed = new Set(accounts)
      for (const [id, row] of cached) if (changed.has(row.account)) cached.delete(id)
    },
    forgetAll: () => {
      changes++
      unknown.clear()
      cached.clear()
    },
  }
}
