import { createHmac, hkdfSync, randomBytes } from 'node:crypto'

/** Returns 64 bits as hex that identify a visitor within one account. */
export type VisitorHash = (account: number, text: string) => string

// weak: a derived key must not outlive the account's key in memory
const derivedKeys = new WeakMap<Buffer, Buffer>()

const visitorKey = (key: Buffer): Buffer => {
  const known = derivedKeys.get(key) ?? Buffer.from(hkdfSync('sha256', key, '', 'linkledger visitors 1', 32))
  derivedKeys.set(key, known)
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
