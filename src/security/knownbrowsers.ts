import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const macOf = (pepper: Buffer, account: number, id: string) =>
  createHmac('sha256', pepper).update(`known browser ${account} ${id}`).digest()

/** Returns the mark of a browser that has signed in to an account: a random id, signed for this account. */
export const markBrowser = (pepper: Buffer, account: number, id = randomBytes(16).toString('base64url')): string =>
  `${id}.${macOf(pepper, account, id).toString('base64url')}`

/** Returns the id in such a mark; undefined when it is not one of this account. */
export const knownBrowser = (pepper: Buffer, account: number, mark: string | undefined): string | undefined => {
  const [, id, mac] = /^([\w-]{22})\.([\w-]{43})$/.exec(mark ?? '') ?? []
  if (id === undefined || mac === undefined) return undefined
  return timingSafeEqual(Buffer.from(mac, 'base64url'), macOf(pepper, account, id)) ? id : undefined
}
