import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** An account, and what a sign-in to it needs. */
export interface SignedIn {
  readonly id: number
  readonly state: {
    /** the hash of its password */
    readonly password: string | null
    readonly secondFactor: { readonly secret: string } | null
  }
}

const needs = ({ state }: SignedIn) => JSON.stringify([state.password, state.secondFactor?.secret])

/** A mark ends with the password and the second factor that it was given for. */
const macOf = (pepper: Buffer, account: SignedIn, id: string) =>
  createHmac('sha256', pepper)
    .update(`known browser ${account.id} ${id} ${needs(account)}`)
    .digest()

/** Returns what tells whether a sign-in to an account still needs what it needed, without telling what. */
export const signInMark = (pepper: Buffer, account: SignedIn): string =>
  createHmac('sha256', pepper)
    .update(`sign-in ${account.id} ${needs(account)}`)
    .digest('base64url')

/**
 * Whether a sign-in needs something else than it did: what was asked for with the former password must not work any
 * more. What was asked for before the update has no mark.
 */
export const isOutdated = (pepper: Buffer, mark: string | undefined, account: SignedIn): boolean =>
  mark !== undefined && mark !== signInMark(pepper, account)

/** Returns the mark of a browser that has signed in to an account: a random id, signed for this account. */
export const markBrowser = (pepper: Buffer, account: SignedIn, id = randomBytes(16).toString('base64url')): string =>
  `${id}.${macOf(pepper, account, id).toString('base64url')}`

/** Returns the id in such a mark; undefined when it is not one of this account as it is now. */
export const knownBrowser = (pepper: Buffer, account: SignedIn, mark: string | undefined): string | undefined => {
  const [, id, mac] = /^([\w-]{22})\.([\w-]{43})$/.exec(mark ?? '') ?? []
  if (id === undefined || mac === undefined) return undefined
  return timingSafeEqual(Buffer.from(mac, 'base64url'), macOf(pepper, account, id)) ? id : undefined
}
