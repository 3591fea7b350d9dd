import type { IncomingMessage } from 'node:http'
import { isSignatureOf, sign } from '../../../security/signature.ts'

const hour = 3600
/**
 * Browsers accept the prefix only from this host over https, so that no other subdomain can set the cookie (RFC
 * 6265bis, 4.1.3.2).
 */
const cookieName = (link: number, secure: boolean) => `${secure ? '__Host-' : ''}ll_${link}`

/** The hash is part of the signed text, so a changed password locks the link again. */
const signedText = (link: number, hash: string, ends: number) => `unlock ${link} ${hash} ${ends}`

/**
 * Returns the `Set-Cookie` header that lets a visitor through for an hour; its value is `<Unix seconds>.<signature>`.
 */
export const unlockCookie = (secret: Buffer, link: number, hash: string, now: number, secure: boolean) => {
  const ends = Math.floor(now / 1000) + hour
  const value = `${ends}.${sign(secret, signedText(link, hash, ends))}`
  return `${cookieName(link, secure)}=${value}; Path=/; Max-Age=${hour}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
}

/**
 * Read here, because the library `cookies` keeps a pattern for each name forever, and every protected link has a name
 * of its own.
 */
const cookieOf = ({ headers }: IncomingMessage, name: string) =>
  headers.cookie
    ?.split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(`${name}=`))
    ?.slice(name.length + 1)

/** Whether the request has a cookie that unlocks the link with this password hash. */
export const isUnlocked = (
  req: IncomingMessage,
  secret: Buffer,
  { link, password }: { readonly link: number; readonly password: string },
  now: number,
  secure: boolean,
) => {
  const [ends, signature = ''] = cookieOf(req, cookieName(link, secure))?.split('.') ?? []
  return Number(ends) * 1000 > now && isSignatureOf(secret, signedText(link, password, Number(ends)), signature)
}
