import { createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'

const prefix = 'll_'
const pattern = /^ll_([A-Za-z0-9]{12})_([A-Za-z0-9]{32})([0-9a-f]{6})$/
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

type Bytes = (length: number, attempt: number) => Buffer

const draw = (length: number, bytes: Bytes, attempt = 0): string => {
  // 248 = 4 × 62: larger bytes would make some letters likelier than others
  const usable = [...bytes(length * 2, attempt)].filter((byte) => byte < 248).map((byte) => letters.charAt(byte % 62))
  return usable.length < length ? draw(length, bytes, attempt + 1) : usable.slice(0, length).join('')
}
const checksum = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 6)

/** Returns the keyed hash of an API key, 32 bytes: the only form in which a key is stored. */
export const hashKey = (pepper: Buffer, key: string): Buffer => createHmac('sha256', pepper).update(key).digest()

export interface NewKey {
  /** public: identifies the key in the log and the tables */
  readonly id: string
  /** shown to the client once */
  readonly key: string
  /** base64url of `hashKey` */
  readonly hash: string
}

const seeded =
  (seed: Buffer, what: string): Bytes =>
  (length, attempt) =>
    Buffer.from(hkdfSync('sha256', seed, '', `api key ${what} ${attempt}`, length))

/**
 * Makes a key `ll_<id>_<secret><checksum>`: scanners find it in a leak, and a mistyped one is rejected without a
 * lookup. Of one seed (32 random bytes), it is always the same.
 */
export const newKey = (pepper: Buffer, seed?: Buffer): NewKey => {
  const bytes = (what: string) => (seed ? seeded(seed, what) : (length: number) => randomBytes(length))
  const [id, secret] = [draw(12, bytes('id')), draw(32, bytes('secret'))]
  const key = `${prefix}${id}_${secret}${checksum(id + secret)}`
  return { id, key, hash: hashKey(pepper, key).toString('base64url') }
}

/** Returns the part of an API key that is no secret, given its public id. */
export const publicPart = (id: string): string => `${prefix}${id}_`

/** Returns the public id in an API key, undefined when the key is malformed. */
export const keyIdOf = (key: string): string | undefined => {
  const [, id = '', secret = '', check] = pattern.exec(key) ?? []
  return check !== undefined && check === checksum(id + secret) ? id : undefined
}

/**
 * Returns the key in an `Authorization` header: `Bearer KEY`, or as older clients send it, `Token KEY` or the key
 * alone.
 */
export const presentedKey = (header: string | undefined): string | undefined =>
  /^(?:(?:bearer|token)\s+)?(\S+)$/i.exec(header?.trim() ?? '')?.[1]
