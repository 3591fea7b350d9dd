import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

/** 16 MiB and about 50 ms per hash: the parameters of RFC 7914 for interactive logins. */
const cost = { N: 16_384, r: 8, p: 1 }
const derive = (password: string, salt: Buffer, length: number, { N, r, p } = cost) =>
  new Promise<Buffer>((resolve, reject) =>
    scrypt(password.normalize('NFKC'), salt, length, { N, r, p }, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  )

/** Returns `scrypt$N$r$p$salt$key`; salt and key are base64url. */
export const hashPassword = async (password: string) => {
  const salt = randomBytes(16)
  const key = await derive(password, salt, 32)
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), key.toString('base64url')].join('$')
}

/** Whether the password is the one of a hash that `hashPassword` made, compared in constant time. */
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
