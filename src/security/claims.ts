/** Names of claims; `verified` undefined: the issuer has verified every address. */
export interface ClaimNames {
  readonly email: string
  readonly verified: string | undefined
  readonly name: string
  readonly groups: string
  /** by which a directory (SCIM) calls the person `externalId` */
  readonly directory: string
}

export type Claims = Readonly<Record<string, unknown>>
/** Returns the text of a claim, undefined when there is none. */
export const textIn = (claims: Claims, name: string) => {
  const value = claims[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}
/** Returns a claim by its name, or below others: `realm_access.roles`. */
const claimIn = (claims: Claims, name: string): unknown =>
  Object.hasOwn(claims, name)
    ? claims[name]
    : name
        .split('.')
        .reduce<unknown>(
          (value, part) =>
            typeof value === 'object' && value !== null && Object.hasOwn(value, part)
              ? (value as Claims)[part]
              : undefined,
          claims,
        )

/** the most groups of a person that count */
const mostGroups = 2000

/**
 * Returns the groups of a person, from the first source that has them: none where the claim is missing, undefined where
 * the issuer says that it has left them out because they are too many (`_claim_names`).
 */
export const groupsIn = (sources: readonly Claims[], name: string): readonly string[] | undefined => {
  const value = sources.map((one) => claimIn(one, name)).find((one) => one !== undefined && one !== null)
  if (value === undefined && sources.some((one) => claimIn(one, '_claim_names') !== undefined)) return undefined
  const all = [value ?? []].flat() as readonly unknown[]
  return all.length > mostGroups ? undefined : all.filter((one): one is string => typeof one === 'string' && one !== '')
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
