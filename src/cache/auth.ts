import { timingSafeEqual } from 'node:crypto'
import QuickLRU from 'quick-lru'
import { allows, Scope } from '../events/accounts/scope.ts'
import { rightsOf, type Role } from '../events/accounts/role.ts'
import type { Open } from '../events/openenum.ts'
import { inNetworks, networksIn } from '../lib/networks.ts'
import type { KeyRow } from '../queries/accounts/key.ts'
import { hashKey, keyIdOf, presentedKey } from '../security/apikeys.ts'

/** Who presents a working key: its public id, its number within the account, and what it is allowed. */
export interface KeyHolder extends Pick<KeyRow, 'account' | 'number' | 'scopes' | 'rateLimit'> {
  readonly key: string
  /** the member whose key it is; undefined: the account's own sign-in */
  readonly member?: MemberHolder | undefined
}
/** A member of an account, by the number within it. */
export interface MemberHolder {
  readonly number: number
  readonly role: Open<Role>
  /** ids of the domains that they may use, 0 for the service's own host; undefined: all */
  readonly domains?: readonly number[] | undefined
}
export type Authenticated =
  | (KeyHolder & { readonly ok: true })
  | {
      readonly ok: false
      readonly problem: 'invalid' | 'expired' | 'address'
      readonly account?: never
    }
  | { readonly ok: false; readonly problem: 'disabled'; readonly account: number; readonly rateLimit: number | null }

export interface Auth {
  /** `from` is the address of the client. */
  readonly authenticate: (header: string | undefined, now: Date, from: string) => Promise<Authenticated>
  /** Returns the holder of a key, whether or not it works here and now; undefined when there is no such key. */
  readonly holderOf: (key: string) => Promise<KeyHolder | undefined>
  /** Invalidates the keys of accounts whose status or keys have changed. */
  readonly forget: (accounts: readonly number[]) => void
  readonly forgetAll: () => void
}

/** compared with when a key does not exist, so that it takes as long as one that does */
const noHash = Buffer.alloc(32)

/** ms for which an unknown key is remembered: a client with a revoked key repeats its request */
const unknownAge = 10_000

interface Known extends KeyRow {
  readonly isAllowed: (address: string) => boolean
}
const known = (row: KeyRow): Known => ({
  ...row,
  isAllowed: row.addresses === null ? () => true : inNetworks(networksIn(row.addresses)),
})

/** Keeps keys that exist until they are forgotten, and those that do not exist for a while. */
const createKnownKeys = (read: (key: string) => Promise<KeyRow | undefined>) => {
  const cached = new QuickLRU<string, Known>({ maxSize: 10_000, maxAge: 60_000 })
  const unknown = new QuickLRU<string, true>({ maxSize: 10_000, maxAge: unknownAge })
  let changes = 0
  return {
    find: async (id: string) => {
      const before = cached.get(id)
      if (before || unknown.has(id)) return before
      const change = changes
      const row = await read(id)
      const found = row && known(row)
      // a row read before a change must not be cached after it
      if (change === changes) {
        if (found) cached.set(id, found)
        else unknown.set(id, true)
      }
      return found
    },
    forget: (accounts: readonly number[]) => {
      changes++
      // a change of an account may be a new key
      unknown.clear()
      const changed = new Set(accounts)
      for (const [id, row] of cached)
        if (changed.has(row.account) || (row.person !== null && changed.has(row.person))) cached.delete(id)
    },
    forgetAll: () => {
      changes++
      unknown.clear()
      cached.clear()
    },
  }
}

/**
 * Caches API keys until their account changes, at most a minute. `compare` must be timing-safe; it runs once whether
 * the key exists or not.
 */
export const openAuth = (
  pepper: Buffer,
  find: (key: string) => Promise<KeyRow | undefined>,
  compare: (a: Buffer, b: Buffer) => boolean = timingSafeEqual,
): Auth => {
  const keys = createKnownKeys(find)

  /** Returns a key that exists with its public id. */
  const identify = async (key: string | undefined) => {
    const id = key && keyIdOf(key)
    if (!key || !id) return undefined
    const row = await keys.find(id)
    const matches = compare(hashKey(pepper, key), row ? Buffer.from(row.hash, 'base64url') : noHash)
    return row && matches && row.status !== 'erased' ? { id, row } : undefined
  }
  const holder = ({ id, row }: { readonly id: string; readonly row: Known }) => {
    const { account, number, rateLimit, member, role, domains } = row
    const common = { key: id, account, number, rateLimit }
    if (member === null) return { ...common, scopes: row.scopes }
    const rights = rightsOf(role ?? '')
    const scopes = Scope.options.filter((scope) => allows(row.scopes, scope) && allows(rights, scope))
    return { ...common, scopes, member: { number: member, role: role ?? '', domains: domains ?? undefined } }
  }

  return {
    authenticate: async (header, now, from) => {
      const found = await identify(presentedKey(header))
      if (!found) return { ok: false, problem: 'invalid' }
      const { account, expires, status, rateLimit, isAllowed, member, role } = found.row
      // it ends with its member
      if (member !== null && role === null) return { ok: false, problem: 'invalid' }
      if (expires && expires <= now) return { ok: false, problem: 'expired' }
      if (!isAllowed(from)) return { ok: false, problem: 'address' }
      if (status === 'disabled') return { ok: false, problem: 'disabled', account, rateLimit }
      return { ok: true, ...holder(found) }
    },
    holderOf: async (key) => {
      const found = await identify(key)
      return found && holder(found)
    },
    forget: keys.forget,
    forgetAll: keys.forgetAll,
  }
}
