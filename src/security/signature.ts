import { createHmac, timingSafeEqual } from 'node:crypto'

/** Returns the signature of a text (HMAC-SHA-256, base64url), by which this service recognizes what it wrote itself. */
export const sign = (secret: Buffer, text: string) => createHmac('sha256', secret).update(text).digest('base64url')

/** Whether `signature` is that of the text, compared in constant time. */
export const isSignatureOf = (secret: Buffer, text: string, signature: string) => {
  const expected = Buffer.from(sign(secret, text))
  const given = Buffer.from(signature)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
