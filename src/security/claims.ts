/** Names of claims; `verified` undefined: the issuer has verified every address. */
export interface ClaimNames {
  readonly email: string
  readonly verified: string | undefined
  readonly name: string
  readonly groups: string
  /** the claim that has the `externalId` of the person in a directory (SCIM) */
  readonly directory: string
}

export type Claims = Readonly<Record<string, unknown>>
/** Returns the text of a claim, undefined without one. */
export const textIn = (claims: Claims, name: string) => {
  const value = claims[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}
/** Returns the text of a claim that identifies a person; some issuers send a number. */
export const idIn = (claims: Claims, name: string) => {
  const value = claims[name]
  return Number.isSafeInteger(value) ? String(value) : textIn(claims, name)
}
/** Returns a claim by its name or path: `realm_access.roles`. */
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

/** maximum number of groups of a person */
const mostGroups = 2000

/** What an issuer has sent about a person: ID token and userinfo. Either may be missing. */
export interface Said {
  readonly token: Claims | undefined
  readonly userinfo: Claims | undefined
}
export type GroupSource = keyof Said

/** The groups of a person, undefined when unknown, and the responses that had them. */
interface SaidGroups {
  readonly groups: readonly string[] | undefined
  readonly groupsFrom: readonly GroupSource[]
}

/**
 * Returns the groups of a person, from the first source that has them; undefined where the issuer left them out because
 * they are too many (`_claim_names`). A claim that is missing at a sign-in means no groups. Later, it means that only
 * in a response that had it `before`: an issuer may send less then.
 */
export const groupsIn = (said: Said, name: string, before?: readonly GroupSource[]): SaidGroups => {
  const all = (['token', 'userinfo'] as const).flatMap((from) => (said[from] ? [{ from, claims: said[from] }] : []))
  const found = all
    .map(({ from, claims }) => ({ from, value: claimIn(claims, name) }))
    .filter(({ value }) => value !== undefined && value !== null)
  if (found.length > 0) {
    const given = [found[0]?.value].flat() as readonly unknown[]
    const groups = given.filter((one): one is string => typeof one === 'string' && one !== '')
    return { groups: given.length > mostGroups ? undefined : groups, groupsFrom: found.map(({ from }) => from) }
  }
  const isLeftOut = all.some(({ claims }) => claimIn(claims, '_claim_names') !== undefined)
  const hadThem = before?.length === 0 ? (['token'] as const) : before
  const areNone = !isLeftOut && (hadThem?.some((from) => said[from] !== undefined) ?? true)
  return { groups: areNone ? [] : undefined, groupsFrom: before ?? [] }
}

/** Some issuers send it as a string or a number. */
const isTrue = (value: unknown) => value === true || value === 'true' || value === 1 || value === '1'

/**
 * Returns the address of the ID token, or else of the userinfo, and whether it is verified: the claim must be about
 * this address, and no other source may contradict it.
 */
export const emailIn = (sources: readonly Claims[], { email: name, verified }: ClaimNames) => {
  const email = sources.map((one) => textIn(one, name)).find(Boolean)
  if (email === undefined) return { email, verified: false }
  if (verified === undefined) return { email, verified: true }
  const about = sources.filter((one) => (textIn(one, name) ?? email) === email && one[verified] !== undefined)
  return { email, verified: about.length > 0 && about.every((one) => isTrue(one[verified])) }
}
