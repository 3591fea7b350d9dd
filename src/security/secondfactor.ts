import { createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'

/** s: how long a code of an authenticator app is valid */
const period = 30
/** Codes of so many steps before and after this one are right, too: clocks of phones differ. */
const tolerance = 1
const digits = 6
/** bytes, as RFC 4226 recommends */
const secretLength = 20

/** RFC 4648, 6 */
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const bitsOf = (bytes: Buffer) => [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')

/** Returns a new secret for an authenticator app, in base32. */
export const newTotpSecret = (): string =>
  bitsOf(randomBytes(secretLength)).replaceAll(/.{5}/g, (five) => base32.charAt(Number.parseInt(five, 2)))

/** Whether a text is a secret as `newTotpSecret` makes them. */
export const isTotpSecret = (text: string): boolean => /^[A-Z2-7]{32}$/.test(text)

const bytesOf = (secret: string) => {
  const bits = secret
    .split('')
    .map((letter) => base32.indexOf(letter).toString(2).padStart(5, '0'))
    .join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** Returns what an authenticator app reads from a QR code: `otpauth://totp/...`. Without other parameters, apps use SHA-1, six digits and 30 seconds. */
export const totpAddress = (secret: string, issuer: string, label: string): string =>
  `otpauth://totp/${encodeURIComponent(issuer)}:${encodeURIComponent(label)}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`

/** Returns the code of a time step (RFC 4226, 5.3; RFC 6238). */
export const codeOfStep = (secret: string, step: number): string => {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const hash = createHmac('sha1', bytesOf(secret)).update(counter).digest()
  const at = hash.at(-1)! & 0xf
  return String((hash.readUInt32BE(at) & 0x7fff_ffff) % 10 ** digits).padStart(digits, '0')
}

/** Returns the time step of a moment in ms. */
export const stepAt = (now: number): number => Math.floor(now / 1000 / period)

/** Returns the time step to which a code belongs; undefined when it is wrong. `now` is in ms. */
export const stepOfCode = (secret: string, code: string, now: number): number | undefined => {
  // an unreadable secret is none: no code is right
  if (!isTotpSecret(secret) || !/^[0-9]{6}$/.test(code) || code.length !== digits) return undefined
  const steps = Array.from({ length: 2 * tolerance + 1 }, (_, n) => stepAt(now) - tolerance + n)
  return steps.find((step) => step >= 0 && timingSafeEqual(Buffer.from(codeOfStep(secret, step)), Buffer.from(code)))
}

const recoveryCodes = 10
/** without letters and digits that look alike */
const letters = 'abcdefghjkmnpqrstuvwxyz23456789'
const group = () => Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('')

/** Returns the keyed hash as which a recovery code is stored. Letter case, spaces and hyphens do not count. */
export const hashRecoveryCode = (pepper: Buffer, account: number, code: string): string =>
  createHmac('sha256', pepper)
    .update(`recovery code ${account} ${code.toLowerCase().replaceAll(/[\s-]/g, '')}`)
    .digest('base64url')

/** Returns new recovery codes: each replaces a code of the authenticator app once. */
export const newRecoveryCodes = (): readonly string[] =>
  Array.from({ length: recoveryCodes }, () => `${group()}-${group()}`)
