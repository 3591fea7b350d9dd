/** Names of claims; `verified` undefined: the issuer has verified every address. */
export interface ClaimNames {
  readonly email: string
  readonly verified: string | undefined
  readonly name: string
}

export type Claims = Readonly<Record<string, unknown>>
/** Returns the text of a claim, undefined when there is none. */
export const textIn = (claims: Claims, name: string) => {
  const value = claims[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}
/** Some issuers send it as a text or a number. */
const isTrue = (value: unknown) => value === true || value === 'true' || value === 1 || value === '1'

/**
 * Returns the address that the ID token has, or else the userinfo, and whether it is verified: what says so must be
 * about this address, and nothing may say otherwise.
 */
export const emailIn = (sources: readonly Claims[], { email: name, verified }: ClaimNames) => {
  const email = sources.map((one) => textIn(one, name)).find(Boolean)
  if (email === undefined) return { email, verified: false }
  if (verified === undefined) return { email, verified: true }
  const about = sources.filter((one) => (textIn(one, name) ?? email) === email && one[verified] !== undefined)
  return { email, verified: about.length > 0 && about.every((one) => isTrue(one[verified])) }
}
