import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

/** 16 MiB and some 50 ms a hash: RFC 7914's parameters for interactive log-ins. */
const cost = { N: 16_384, r: 8, p: 1 }
const derive = (password: string, salt: Buffer, length: number, { N, r, p } = cost) =>
  new Promise<Buffer>((resolve, reject) =>
    scrypt(password.normalize('NFKC'), salt, length, { N, r, p }, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  )

/** `scrypt$N$r$p$salt$key`, base64url. */
export const hashPassword = async (password: string) => {
  const salt = randomBytes(16)
  const key = await derive(password, salt, 32)
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), key.toString('base64url')].join('$')
}

export const checkPassword = async (password: string, hash: string) => {
  const [, N, r, p, salt = '', key = ''] = hash.split('$')
  const expected = Buffer.from(key, 'base64url')
  const derived = await derive(password, Buffer.from(salt, 'base64url'), expected.length, {
    N: Number(N),
    r: Number(r),
    p: Number(p),
  })
  return timingSafeEqual(derived, expected)
}

const hour = 3600
const mac = (secret: Buffer, link: number, hash: string, ends: number) =>
  createHmac('sha256', secret).update(`unlock ${link} ${hash} ${ends}`).digest('base64url')

/** What lets a visitor pass for an hour; it ends with the password, whose hash is in the signature. */
export const unlockCookie = (secret: Buffer, link: number, hash: string, now: number) => {
  const ends = Math.floor(now / 1000) + hour
  return { name: `ll_${link}`, value: `${ends}.${mac(secret, link, hash, ends)}`, maxAge: hour }
}

export const unlocks = (secret: Buffer, link: number, hash: string, now: number, value: string | undefined) => {
  const [ends, given = ''] = value?.split('.') ?? []
  const expected = Buffer.from(mac(secret, link, hash, Number(ends)))
  const actual = Buffer.from(given)
  return Number(ends) * 1000 > now && actual.length === expected.length && timingSafeEqual(actual, expected)
}
