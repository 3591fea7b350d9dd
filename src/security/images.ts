import { createHmac, hkdfSync } from 'node:crypto'
import { Unavailable } from '../lib/unavailable.ts'
import type { Database } from '../postgres/database.ts'
import { findImage, storeImage } from '../postgres/images.ts'
import { BrokenSeal, type Keyring, sealBytes, unsealBytes } from './seal.ts'

/** Images that events name by their hash. Each belongs to one account and is sealed under its key. */
export interface ImageStore {
  /**
   * Stores an image durably and returns its hash. The same bytes of the same account are stored once. Call it before
   * the event is appended. Throws `Unavailable` when the account has no key, because it was erased.
   */
  readonly save: (account: number, image: Buffer) => Promise<string>
  /** Returns an image; undefined when it is missing, or cannot be decrypted with the account's key. */
  readonly find: (account: number, hash: string) => Promise<Buffer | undefined>
}

const context = (account: number, hash: string) => `${account}/image/${hash}`

/**
 * Returns the SHA-256 of an image, keyed with the account's key: the hash stays in the log for good, and without the
 * key it does not tell which image it was, nor that two accounts have the same one.
 */
const hashOf = (key: Buffer, image: Buffer) =>
  createHmac('sha256', Buffer.from(hkdfSync('sha256', key, '', 'linkledger image hash 1', 32)))
    .update(image)
    .digest('base64url')

/** Returns an image; undefined when its seal is broken. */
const opened = (key: Buffer, place: string, sealed: Buffer) => {
  try {
    return unsealBytes(key, place, sealed)
  } catch (error) {
    if (error instanceof BrokenSeal) return undefined
    throw error
  }
}

export const openImageStore = (db: Database, keyring: Keyring): ImageStore => ({
  save: async (account, image) => {
    const noKey = () => new Unavailable(`account ${account} has no key to seal an image under`)
    const key = await keyring.forSealing(account)
    if (!key) throw noKey()
    const hash = hashOf(key, image)
    const sealed = sealBytes(key, context(account, hash), image)
    if (!(await storeImage(db, { account, hash, sealed }))) throw noKey()
    return hash
  },
  find: async (account, hash) => {
    const [sealed, keys] = await Promise.all([findImage(db, account, hash), keyring.forOpening([account])])
    const key = keys.get(account)
    return sealed && key ? opened(key, context(account, hash), sealed) : undefined
  },
})
