import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import QuickLRU from 'quick-lru'
import type { KeyRow } from '../queries/key.ts'

const prefix = 'll_'
const pattern = /^ll_([A-Za-z0-9]{12})_([A-Za-z0-9]{32})([0-9a-f]{6})$/
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

const random = (length: number): string => {
  const usable = [...randomBytes(length * 2)].filter((byte) => byte < 248).map((byte) => letters.charAt(byte % 62))
  return usable.length < length ? random(length) : usable.slice(0, length).join('')
}
const checksum = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 6)
const digest = (pepper: Buffer, key: string) => createHmac('sha256', pepper).update(key).digest()

export interface NewKey {
  /** public: names the key in the log and the tables */
  readonly id: string
  /** what the client gets, once */
  readonly key: string
  /** what is kept */
  readonly hash: string
}

/** `ll_<id>_<secret><checksum>`: recognisable in a leak, refused without a look-up when mistyped, kept as a keyed hash only. */
export const newKey = (pepper: Buffer): NewKey => {
  const [id, secret] = [random(12), random(32)]
  const key = `${prefix}${id}_${secret}${checksum(id + secret)}`
  return { id, key, hash: digest(pepper, key).toString('base64url') }
}

/** The public id of a well-formed key. */
const keyId = (key: string) => {
  const [, id = '', secret = '', check] = pattern.exec(key) ?? []
  return check !== undefined && check === checksum(id + secret) ? id : undefined
}

/** `Bearer KEY`; also `Token KEY` and the bare key, as older clients send it. */
const presented = (header: string | undefined) => /^(?:(?:bearer|token)\s+)?(\S+)$/i.exec(header?.trim() ?? '')?.[1]

export type Authenticated =
  | { readonly ok: true; readonly account: number; readonly key: string }
  | {
      readonly ok: false
      readonly problem: 'invalid' | 'expired' | 'disabled'
      readonly account?: number
      readonly key?: string
    }

export interface Auth {
  readonly authenticate: (header: string | undefined, now: Date) => Promise<Authenticated>
  /** Something about these accounts or their keys has changed. */
  readonly forget: (accounts: readonly number[]) => void
  readonly forgetAll: () => void
}

const nobody = Buffer.alloc(32)

/** Keys are looked up once and remembered until their account changes. `compare` is timing-safe, and is made once whether the key exists or not. */
export const openAuth = (
  pepper: Buffer,
  find: (key: string) => Promise<KeyRow | undefined>,
  compare: (a: Buffer, b: Buffer) => boolean = timingSafeEqual,
): Auth => {
  const known = new QuickLRU<string, KeyRow>({ maxSize: 10_000, maxAge: 60_000 })
  let changes = 0

  const look = async (id: string) => {
    const cached = known.get(id)
    if (cached) return cached
    const before = changes
    const row = await find(id)
    // a change that came meanwhile may not be in this row
    if (row && before === changes) known.set(id, row)
    return row
  }

  return {
    authenticate: async (header, now) => {
      const key = presented(header)
      const id = key && keyId(key)
      if (!key || !id) return { ok: false, problem: 'invalid' }
      const row = await look(id)
      const matches = compare(digest(pepper, key), row ? Buffer.from(row.hash, 'base64url') : nobody)
      if (!row || !matches || row.status === 'erased') return { ok: false, problem: 'invalid' }
      if (row.expires && row.expires <= now) return { ok: false, problem: 'expired' }
      if (row.status === 'disabled') return { ok: false, problem: 'disabled', account: row.account, key: id }
      return { ok: true, account: row.account, key: id }
    },
    forget: (accounts) => {
      changes++
      const changed = new Set(accounts)
      for (const [id, row] of known) if (changed.has(row.account)) known.delete(id)
    },
    forgetAll: () => {
      changes++
      known.clear()
    },
  }
}
