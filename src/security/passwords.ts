import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import QuickLRU from 'quick-lru'
import { addressSite } from '../lib/address.ts'
import { createTurnQueue } from '../lib/async/turnqueue.ts'
import { normalized } from '../lib/strangers.ts'

/** Too many passwords wait for their hash: the same request may succeed a moment later. */
export class TooManyPasswords extends Error {
  override readonly name = 'TooManyPasswords'
}

interface Waiting {
  readonly hash: () => Promise<void>
  readonly refuse: () => void
}
interface Lane {
  /** maximum number of waiting hashes */
  readonly total: number
  /** those of one source; sources take turns */
  readonly perSource: number
}
/**
 * Returns a lane that computes one hash after the other. Throws `TooManyPasswords` when too many wait: in total, of a
 * source, or so many that at most `room` places are left.
 */
export const createLane = ({ total, perSource }: Lane) => {
  const queue = createTurnQueue<Waiting>({ total, perSource, onLeft: ({ refuse }) => refuse() })
  let isBusy = false
  const run = async () => {
    isBusy = true
    for (let next = queue.shift(); next; next = queue.shift()) await next.hash()
    isBusy = false
  }
  return <T>(sources: readonly string[], work: () => Promise<T>, room = 0): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const refuse = () => reject(new TooManyPasswords('too many passwords wait'))
      const hash = () => work().then(resolve, reject)
      if (queue.size() >= total - room || !queue.push(sources, { hash, refuse })) refuse()
      else if (!isBusy) void run()
    })
}
/**
 * At most three hashes at a time: each takes a thread of the four that also write the spool. Sign-ins and registrations
 * by strangers have a lane of their own, and so do guesses by visitors. Networks take turns there, because no limit
 * counts right passwords.
 */
const strangers = createLane({ total: 50, perSource: 8 })
const visitors = createLane({ total: 200, perSource: 16 })
/**
 * For browsers that have signed in before, requests with a key or session, and mailed links: accounts take turns, so
 * that strangers cannot fill the lane.
 */
const owners = createLane({ total: 1000, perSource: 16 })

/** The source of a password hash, and the lane in which it waits. */
export interface Turn {
  readonly lane: ReturnType<typeof createLane>
  readonly sources: readonly string[]
  readonly room?: number
}
/** A client that shows no connection to an account, by its address block. */
export const stranger = (from: string): Turn => ({ lane: strangers, sources: [addressSite(from)] })
/** An owner who sets the password of an account. */
export const owner = (account: number): Turn => ({ lane: owners, sources: [String(account)] })
/** An account that sets passwords of links: many of them leave room for the passwords of accounts. */
export const linkOwner = (account: number): Turn => ({ ...owner(account), room: 500 })

/** 16 MiB and about 50 ms per hash: the parameters of RFC 7914 for interactive logins. */
const cost = { N: 16_384, r: 8, p: 1 }
const derive = (password: string, salt: Buffer, length: number, { N, r, p } = cost) =>
  new Promise<Buffer>((resolve, reject) =>
    // a too long password, which matches nothing, is hashed unchanged: that takes as long
    scrypt(normalized('password', 'NFKC', password) ?? password, salt, length, { N, r, p }, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  )

/** Returns `scrypt$N$r$p$salt$key`; salt and key are base64url. Without a turn, it is the operator's. */
export const hashPassword = async (password: string, { lane, sources, room } = owner(0), { N, r, p } = cost) => {
  const salt = randomBytes(16)
  const key = await lane(sources, () => derive(password, salt, 32, { N, r, p }), room)
  return ['scrypt', N, r, p, salt.toString('base64url'), key.toString('base64url')].join('$')
}

const compare = async ({ lane, sources }: Turn, password: string, hash: string) => {
  const [, N, r, p, salt = '', key = ''] = hash.split('$')
  const expected = Buffer.from(key, 'base64url')
  const cost = { N: Number(N), r: Number(r), p: Number(p) }
  const derived = await lane(sources, () => derive(password, Buffer.from(salt, 'base64url'), expected.length, cost))
  return timingSafeEqual(derived, expected)
}

/**
 * Whether a visitor has entered the password of a hash from `hashPassword`, compared in constant time. Links take
 * turns, and so do the address blocks of visitors.
 */
export const checkPassword = (password: string, hash: string, from: string) =>
  compare({ lane: visitors, sources: [hash, addressSite(from)] }, password, hash)

/** compared with when there is no hash, so that it takes as long as with one; no password has this key of zeros */
const noHash = ['scrypt', cost.N, cost.r, cost.p, randomBytes(16).toString('base64url'), 'A'.repeat(43)].join('$')

/** Like `checkPassword`, for the password of an account; without a readable hash, every password is wrong. */
export const checkAccountPassword = (password: string, hash: string | null, turn: Turn) =>
  compare(turn, password, hash?.startsWith('scrypt$') ? hash : noHash)

const remembered = { maxSize: 1000, maxAge: 600_000 }

/**
 * Returns `checkPassword` with a cache of right passwords: many visitors enter the same one, and only the first of them
 * costs a hash. The cache has no passwords, only their MACs under a key that does not outlive the process.
 */
export const rememberRight = (check = checkPassword): typeof checkPassword => {
  const secret = randomBytes(32)
  const checks = new QuickLRU<string, Promise<boolean>>(remembered)
  return (password, hash, from) => {
    const key = createHmac('sha256', secret).update(`${hash} ${password}`).digest('base64')
    const known = checks.get(key)
    if (known) return known
    const checking = check(password, hash, from)
    checks.set(key, checking)
    const forget = () => checks.delete(key)
    checking.then((right) => right || forget(), forget)
    return checking
  }
}
