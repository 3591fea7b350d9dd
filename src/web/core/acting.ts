/** The account that the address of the page names, as in `/dashboard/@7/links`; undefined: that of who is signed in. */
export const chosen: number | undefined = (() => {
  const [, id] =
    /^\/dashboard\/@(\d{1,15})(?:\/|$)/.exec(
      (globalThis as { readonly location?: { readonly pathname: string } }).location?.pathname ?? '',
    ) ?? []
  return id === undefined ? undefined : Number(id)
})()

/** The address of the dashboard of an account; undefined: of who is signed in. */
export const baseOf = (account: number | undefined): string =>
  account === undefined ? '/dashboard' : `/dashboard/@${account}`
export const base = baseOf(chosen)

let own: number | undefined
/** Notes who is signed in. */
export const actAs = (account: number | undefined): void => void (own = account)
/**
 * Returns the account in which the page acts, where that is known. Every request names it: another tab may have signed
 * in somebody else meanwhile, and what is written here must not get into their account.
 */
export const acting = (): number | undefined => chosen ?? own

/** Returns a path of the API for what cannot send a header: a stream, or a file. */
export const asChosen = (path: string): string =>
  chosen === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}account=${chosen}`
