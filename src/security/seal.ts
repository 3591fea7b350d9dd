import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'

/**
 * A personal text. In the log it is sealed under the key of the event's account; once that key is destroyed it reads as null,
 * and the log stays whole.
 */
export const Personal = z.string().nullable()

/** The data keys of accounts: 32 bytes each. */
export interface Keyring {
  /** The account's key, made at the first use; undefined once it was destroyed. */
  readonly forSealing: (account: number) => Promise<Buffer | undefined>
  /** The keys of these accounts, as far as they exist. */
  readonly forOpening: (accounts: readonly number[]) => Promise<ReadonlyMap<number, Buffer>>
}

/** AES-256-GCM, `iv | tag | text` as base64url. What it stands for (`context`) is authenticated, so that no field can be moved into another. */
export const seal = (key: Buffer, context: string, text: string | Buffer) => {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context))
  const sealed = Buffer.concat([cipher.update(text), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')
}

/** The opposite of `seal`; throws when the key, the context or the text is not the one it was sealed with. */
export const unseal = (key: Buffer, context: string, sealed: string) => {
  const bytes = Buffer.from(sealed, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(12, 28))
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()])
}

/** Six letters that tell keys apart and say nothing of them. */
const mark = (key: Buffer) =>
  createHash('sha256').update('linkledger key mark ').update(key).digest('base64url').slice(0, 6)

/** `seal`, marked with the key it was done with. */
export const sealPersonal = (key: Buffer, context: string, text: string) => `${mark(key)}.${seal(key, context, text)}`

/**
 * The opposite of `sealPersonal`; null without the key: it was destroyed, or lost with a database that was restored to an older backup
 * and has made another since. Throws when the context or the text is not the one that was sealed.
 */
export const unsealPersonal = (key: Buffer | undefined, context: string, text: string) => {
  const at = text.indexOf('.')
  // before there were marks
  if (at < 0) return key ? unseal(key, context, text).toString() : null
  return key && mark(key) === text.slice(0, at) ? unseal(key, context, text.slice(at + 1)).toString() : null
}

/** Names of the personal fields of a payload schema, `Personal` or `Personal.optional()`. */
export const personalFields = (schema: z.ZodObject): readonly string[] =>
  Object.entries(schema.shape)
    .filter(([, field]) => field === Personal || (field instanceof z.ZodOptional && field.unwrap() === Personal))
    .map(([name]) => name)
