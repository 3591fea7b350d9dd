import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import QuickLRU from 'quick-lru'

/** Returns 64 bits as hex that identify a visitor within one account. */
export type VisitorHash = (account: number, text: string) => string

const derivedKeys = new QuickLRU<string, Buffer>({ maxSize: 10_000 })

const visitorKey = (key: Buffer): Buffer => {
  const name = key.toString('base64')
  const known = derivedKeys.get(name) ?? Buffer.from(hkdfSync('sha256', key, '', 'linkledger visitors 1', 32))
  derivedKeys.set(name, known)
  return known
}

/**
 * Hashes visitors under the keys of their accounts, so that a visitor cannot be followed across accounts and becomes
 * unrecognizable once the account is erased.
 */
export const visitorHash = (keys: ReadonlyMap<number, Buffer>): VisitorHash => {
  // an erased account has no key: its last visits are hashed under a key that is never used again
  const throwaway = randomBytes(32)
  return (account, text) => {
    const key = keys.get(account)
    return createHmac('sha256', key ? visitorKey(key) : throwaway)
      .update(text)
      .digest('hex')
      .slice(0, 16)
  }
}
