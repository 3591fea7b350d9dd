import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import pLimit from 'p-limit'
import QuickLRU from 'quick-lru'
import { normalized } from '../lib/strangers.ts'

/** Too many passwords wait for their hash: the same request may succeed a moment later. */
export class TooManyPasswords extends Error {
  override readonly name = 'TooManyPasswords'
}

/**
 * Returns a lane in which one hash is computed after the other. Throws `TooManyPasswords` when `waiting` others wait.
 */
export const createLane = (waiting: number) => {
  const limit = pLimit(1)
  return <T>(work: () => Promise<T>): Promise<T> =>
    limit.pendingCount < waiting ? limit(work) : Promise.reject(new TooManyPasswords('too many passwords wait'))
}
/**
 * At most three hashes at a time: each takes a thread of the four that also write the spool. Sign-ins and registrations
 * of strangers have a lane of their own, and so have guesses by visitors.
 */
const strangers = createLane(50)
const visitors = createLane(16)
/**
 * For browsers that have signed in before, requests with a key or session, and links that were mailed: no stranger can
 * fill it.
 */
const known = createLane(16)

/** 16 MiB and about 50 ms per hash: the parameters of RFC 7914 for interactive logins. */
const cost = { N: 16_384, r: 8, p: 1 }
const derive = (password: string, salt: Buffer, length: number, { N, r, p } = cost) =>
  new Promise<Buffer>((resolve, reject) =>
    // a longer one, which is that of nothing, is hashed as it is: that takes as long
    scrypt(normalized('password', 'NFKC', password) ?? password, salt, length, { N, r, p }, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  )

/**
 * Returns `scrypt$N$r$p$salt$key`; salt and key are base64url. `isKnown`: not for a stranger, who must not keep owners
 * from setting a password.
 */
export const hashPassword = async (password: string, isKnown = true, { N, r, p } = cost) => {
  const salt = randomBytes(16)
  const key = await (isKnown ? known : strangers)(() => derive(password, salt, 32, { N, r, p }))
  return ['scrypt', N, r, p, salt.toString('base64url'), key.toString('base64url')].join('$')
}

const compare = async (lane: typeof known, password: string, hash: string) => {
  const [, N, r, p, salt = '', key = ''] = hash.split('$')
  const expected = Buffer.from(key, 'base64url')
  const cost = { N: Number(N), r: Number(r), p: Number(p) }
  const derived = await lane(() => derive(password, Buffer.from(salt, 'base64url'), expected.length, cost))
  return timingSafeEqual(derived, expected)
}

/** Whether the password is the one of a hash that `hashPassword` made, compared in constant time. */
export const checkPassword = (password: string, hash: string) => compare(visitors, password, hash)

/** compared with where there is no hash, so that it takes as long as with one; no password has this key of zeros */
const noHash = ['scrypt', cost.N, cost.r, cost.p, randomBytes(16).toString('base64url'), 'A'.repeat(43)].join('$')

/** Like `checkPassword`, for the password of an account; without a hash that can be read, every password is wrong. */
export const checkAccountPassword = (password: string, hash: string | null, isKnown = false) =>
  compare(isKnown ? known : strangers, password, hash?.startsWith('scrypt$') ? hash : noHash)

const remembered = { maxSize: 1000, maxAge: 600_000 }

/**
 * Returns `checkPassword` with a memory of right passwords: many visitors enter the same one, and only the first of
 * them costs a hash. The memory has no passwords, only their MACs under a key that does not outlive the process.
 */
export const rememberRight = (check = checkPassword): typeof checkPassword => {
  const secret = randomBytes(32)
  const checks = new QuickLRU<string, Promise<boolean>>(remembered)
  return (password, hash) => {
    const key = createHmac('sha256', secret).update(`${hash} ${password}`).digest('base64')
    const known = checks.get(key)
    if (known) return known
    const checking = check(password, hash)
    checks.set(key, checking)
    const forget = () => checks.delete(key)
    checking.then((right) => right || forget(), forget)
    return checking
  }
}
