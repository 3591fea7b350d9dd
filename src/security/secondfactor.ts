import { createHmac, randomInt } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'

/** bytes of a secret, as RFC 4226 recommends */
const secretLength = 20
/** Codes of so many time steps before and after this one are right, too: clocks of phones differ. */
const window = 1

/** Returns a new secret for an authenticator app, in base32. */
export const newTotpSecret = (): string => new Secret({ size: secretLength }).base32

/** Whether a text is a secret as `newTotpSecret` makes them. */
export const isTotpSecret = (text: string): boolean => /^[A-Z2-7]{32}$/.test(text)

/**
 * Returns what an authenticator app reads from a QR code: `otpauth://totp/...`, with SHA-1, six digits and 30 seconds,
 * which all apps know.
 */
export const totpAddress = (secret: string, issuer: string, label: string): string =>
  new TOTP({ secret, issuer, label }).toString()

/** Returns the time step to which a code belongs (RFC 6238); undefined when it is wrong. `now` is in ms. */
export const stepOfCode = (secret: string, code: string, now: number): number | undefined => {
  // an unreadable secret is none: no code is right
  if (!isTotpSecret(secret) || !/^[0-9]{6}$/.test(code)) return undefined
  const steps = new TOTP({ secret }).validate({ token: code, timestamp: now, window })
  return steps === null ? undefined : TOTP.counter({ timestamp: now }) + steps
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
