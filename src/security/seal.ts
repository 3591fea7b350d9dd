import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto'
import { z } from 'zod'

/**
 * A field with personal data. In the log it is sealed under the key of the event's account. Once that key is destroyed
 * the field reads as null, while the log stays intact.
 */
export const Personal = z.string().nullable()

/**
 * A sealed field that protects something, such as a password hash; null: not set. Without its key it reads as
 * `unreadable`, never as null: the protection stays.
 */
export const Secret = z.string().nullable()

/**
 * The value of a `Secret` that was set but cannot be read: its key is missing or another one. It is no scrypt hash, so
 * no password matches it.
 */
export const unreadable = 'unreadable'

/** The data keys of accounts, 32 bytes each. */
export interface Keyring {
  /** Returns the account's key, and creates a missing one; undefined once it was destroyed. */
  readonly forSealing: (account: number) => Promise<Buffer | undefined>
  /** Returns the existing keys of these accounts. */
  readonly forOpening: (accounts: readonly number[]) => Promise<ReadonlyMap<number, Buffer>>
  readonly ofStreams: StreamKeys
}

/** A stream that has a key of its own, and the account under whose key that one is sealed. */
export interface KeyedStream {
  readonly stream: string
  readonly account: number
}

/** Keys of single streams, so that one visitor's input can be erased without the rest of the account. */
export interface StreamKeys {
  /** Returns the stream's key, and creates a missing one; undefined once it or the account's key was destroyed. */
  readonly forSealing: (of: KeyedStream) => Promise<Buffer | undefined>
  /** Returns the existing keys of these streams; null for a destroyed one. */
  readonly forOpening: (of: readonly KeyedStream[]) => Promise<ReadonlyMap<string, Buffer | null>>
}

/** A sealed text was changed, moved to another field, or sealed under another key. */
export class BrokenSeal extends Error {
  override readonly name = 'BrokenSeal'
}

/** bytes; without it, Node.js accepts a tag that was cut to four bytes, which is quickly guessed */
const authTagLength = 16

/**
 * Encrypts with AES-256-GCM. Returns `iv | tag | ciphertext`. `context` names the place of the content and is
 * authenticated, so that sealed content cannot be moved to another place.
 */
export const sealBytes = (key: Buffer, context: string, content: string | Buffer, iv = randomBytes(12)): Buffer => {
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength }).setAAD(Buffer.from(context))
  const sealed = [cipher.update(content), cipher.final()]
  return Buffer.concat([iv, cipher.getAuthTag(), ...sealed])
}

/** Like `sealBytes`, as base64url. */
export const seal = (key: Buffer, context: string, text: string | Buffer): string =>
  sealBytes(key, context, text).toString('base64url')

/**
 * Like `seal`, but the same content gives the same text: the IV is a hash of the content under the key, so that no IV
 * is used for two contents. A reader of two texts can see whether their contents are equal.
 */
export const sealSteadily = (key: Buffer, context: string, text: string): string => {
  const iv = createHmac('sha256', key).update(`${context}\n${text}`).digest().subarray(0, 12)
  return sealBytes(key, context, text, iv).toString('base64url')
}

/** The inverse of `seal`. Throws `BrokenSeal` when the key, the context or the text differs. */
export const unseal = (key: Buffer, context: string, sealed: string): Buffer =>
  unsealBytes(key, context, Buffer.from(sealed, 'base64url'))

/** The inverse of `sealBytes`. Throws `BrokenSeal` when the key, the context or the content differs. */
export const unsealBytes = (key: Buffer, context: string, sealed: Buffer): Buffer => {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12), { authTagLength })
      .setAAD(Buffer.from(context))
      .setAuthTag(sealed.subarray(12, 28))
    return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()])
  } catch (cause) {
    throw new BrokenSeal(`${context} was changed, or sealed for another place or under another key`, { cause })
  }
}

/** Six letters that distinguish keys without disclosing anything about them. */
export const fingerprint = (key: Buffer) =>
  createHash('sha256').update('linkledger key mark ').update(key).digest('base64url').slice(0, 6)

/** Seals a personal field. Returns `<fingerprint of the key>.<sealed text>`. */
export const sealPersonal = (key: Buffer, context: string, text: string): string =>
  `${fingerprint(key)}.${seal(key, context, text)}`

/**
 * The inverse of `sealPersonal`. Returns null without the key the text was sealed under: it was destroyed, or the
 * database was restored to a backup from before the key and has created another since. Throws `BrokenSeal` when the
 * context or the text differs.
 */
export const unsealPersonal = (key: Buffer | undefined, context: string, text: string): string | null => {
  const [sealedUnder, sealed] = text.split('.')
  if (sealed === undefined) throw new BrokenSeal(`${context} is not sealed`)
  return key && fingerprint(key) === sealedUnder ? unseal(key, context, sealed).toString() : null
}

/** A sealed field of a payload schema, and its value when it cannot be read. */
export interface SealedField {
  readonly name: string
  readonly withoutKey: typeof unreadable | null
}

/** Returns the sealed fields of a payload schema: `Personal` or `Secret`, optional or not. */
export const sealedFields = (schema: z.ZodObject): readonly SealedField[] =>
  Object.entries(schema.shape).flatMap(([name, field]): SealedField[] => {
    const inner: unknown = field instanceof z.ZodOptional ? field.unwrap() : field
    if (inner === Personal) return [{ name, withoutKey: null }]
    return inner === Secret ? [{ name, withoutKey: unreadable }] : []
  })
