/** The account in the address of the page, as in `/dashboard/@7/links`; undefined: that of the signed-in person. */
export const chosen: number | undefined = (() => {
  const [, id] =
    /^\/dashboard\/@(\d{1,15})(?:\/|$)/.exec(
      (globalThis as { readonly location?: { readonly pathname: string } }).location?.pathname ?? '',
    ) ?? []
  return id === undefined ? undefined : Number(id)
})()

/** The address of the dashboard of an account; undefined: of the signed-in person's. */
export const baseOf = (account: number | undefined): string =>
  account === undefined ? '/dashboard' : `/dashboard/@${account}`
export const base = baseOf(chosen)

let own: number | undefined
/** Stores the account of the signed-in person. */
export const actAs = (account: number | undefined): void => void (own = account)
/**
 * Returns the account in which the page acts, if known. Every request names it: another person may have signed in in
 * another tab, and what is written here must not get into their account.
 */
export const acting = (): number | undefined => chosen ?? own

/** Returns a path of the API for requests that cannot send a header: a stream, or a file. */
export const asChosen = (path: string): string =>
  chosen === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}account=${chosen}`
