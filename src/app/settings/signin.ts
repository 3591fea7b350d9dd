import { z } from 'zod'
import { isLoopback } from '../../lib/loopback.ts'
import { isNetwork } from '../../lib/networks.ts'
import { requestHeaders } from '../../lib/strangers.ts'
import { list, oneOf } from './parsers.ts'

/** Whether a text is the address of an issuer: it must equal the one in tokens exactly. */
const isIssuer = (text: string) => {
  try {
    const { protocol, hostname, search, hash, username } = new URL(text)
    const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
    return isSafe && !/[?#]/.test(text) && search === '' && hash === '' && username === ''
  } catch {
    return false
  }
}

/** Whether a text can be the name of a header that a proxy adds, and has no other meaning here. */
const isFreeHeader = (name: string) =>
  /^[a-z\d-]{1,64}$/.test(name) &&
  !Object.hasOwn(requestHeaders, name) &&
  !/^(?:connection|content-length|date|expect|transfer-encoding)$/.test(name)

/** A role in an account that a group of the issuer grants. */
export interface GroupRole {
  readonly group: string
  readonly account: { readonly id: number } | { readonly username: string }
  readonly role: string
}

/**
 * Returns the roles that groups grant: `group=@account:role,…`, undefined for an invalid list. Names of groups may have
 * commas, as in LDAP.
 */
const groupRolesIn = (text: string): readonly GroupRole[] | undefined => {
  if (text.length > 20_000) return undefined
  let read = 0
  const entries = [...text.matchAll(/=\s*@([a-z0-9_-]{1,32}):([a-z]+)\s*(?:,|$)/g)].map(
    ({ 0: { length }, 1: name = '', 2: given = '', index }) => {
      const group = text.slice(read, index).trim()
      read = index + length
      return { group, name, role: given }
    },
  )
  const roles = entries.flatMap(({ group, name, role }) =>
    // a malformed entry would be read as the beginning of the next one
    group === '' || /@[\w-]*:/.test(group)
      ? []
      : [{ group, account: /^\d+$/.test(name) ? { id: Number(name) } : { username: name }, role }],
  )
  return read === text.length && roles.length === entries.length ? roles : undefined
}

/** Returns the groups in a list: a comma within a name, as in LDAP, comes after a backslash. */
const groupsIn = (text: string): readonly string[] =>
  text
    .split(/(?<!\\),/)
    .map((one) => one.replaceAll('\\,', ',').trim())
    .filter(Boolean)

const claim = (otherwise: string) =>
  z
    .string()
    .regex(/^[\w:./-]{1,200}$/, 'must be the name of a claim')
    .default(otherwise)

/** Returns the missing settings of a sign-in with an issuer, and the problems. */
export const signInProblems = (given: {
  readonly AUTH_PROXY_HEADER?: string | undefined
  readonly AUTH_PROXY_NETWORKS: readonly string[]
  readonly OIDC_ISSUER?: string | undefined
  readonly OIDC_CLIENT_ID?: string | undefined
  readonly OIDC_LINK_VERIFIED_EMAIL: 'on' | 'off'
  readonly PASSWORD_SIGN_IN: 'on' | 'off'
  readonly SMTP_URL?: string | undefined
}): readonly (readonly [name: string, message: string])[] => {
  const { AUTH_PROXY_HEADER: header, AUTH_PROXY_NETWORKS: networks } = given
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_LINK_VERIFIED_EMAIL, PASSWORD_SIGN_IN, SMTP_URL } = given
  const problems: (readonly [string, string])[] = []
  if (OIDC_ISSUER !== undefined && OIDC_CLIENT_ID === undefined)
    problems.push(['OIDC_CLIENT_ID', 'must be set with OIDC_ISSUER: the id that the issuer has for this service'])
  if (OIDC_ISSUER === undefined && OIDC_CLIENT_ID !== undefined)
    problems.push(['OIDC_ISSUER', 'must be set with OIDC_CLIENT_ID: the address of the issuer'])
  if (header !== undefined && networks.length === 0)
    problems.push([
      'AUTH_PROXY_NETWORKS',
      'must be set with AUTH_PROXY_HEADER: the networks of the proxy, or anybody could send the header',
    ])
  if (header === undefined && networks.length > 0)
    problems.push([
      'AUTH_PROXY_HEADER',
      'must be set with AUTH_PROXY_NETWORKS: the header in which the proxy names people',
    ])
  if (header !== undefined && OIDC_ISSUER !== undefined)
    problems.push(['AUTH_PROXY_HEADER', 'must not be set with OIDC_ISSUER: one of them signs people in'])
  if (OIDC_ISSUER === undefined && header === undefined && PASSWORD_SIGN_IN === 'off')
    problems.push([
      'PASSWORD_SIGN_IN',
      'must not be off without OIDC_ISSUER or AUTH_PROXY_HEADER: there would be no way to sign in',
    ])
  if (OIDC_LINK_VERIFIED_EMAIL === 'on' && SMTP_URL === undefined)
    problems.push([
      'OIDC_LINK_VERIFIED_EMAIL',
      'must not be on without SMTP_URL: the addresses of accounts are not confirmed then, and may belong to other people',
    ])
  return problems
}

/** Settings of the sign-in. */
export const signInSettings = {
  OIDC_ISSUER: z
    .string()
    .refine(isIssuer, 'must be an https address without a query, for example https://id.example.com/realms/main')
    .optional()
    .describe(
      'issuer (OpenID Connect) with which people sign in, as its metadata spells it: [sign-in with an issuer](oidc.md). `http://` only on this machine',
    ),
  OIDC_CLIENT_ID: z.string().max(500).optional().describe('id that the issuer has for this service'),
  OIDC_CLIENT_SECRET: z
    .string()
    .optional()
    .describe('secret that the issuer has given this service; without one, it is a public client'),
  OIDC_SCOPES: z
    .string()
    .regex(/^(?:\S+ )*openid(?: \S+)*$/, 'must contain openid, separated by single spaces')
    .default('openid email profile')
    .describe('what is asked of the issuer'),
  OIDC_NAME: z
    .string()
    .max(50, 'must have at most 50 characters')
    .optional()
    .describe('name of the issuer on the sign-in page; default its host'),
  OIDC_REGISTRATION: oneOf(['on', 'off'], 'on').describe(
    '`off`: the first sign-in with the issuer makes no account; one that exists has to be linked first',
  ),
  OIDC_LINK_VERIFIED_EMAIL: oneOf(['on', 'off'], 'off').describe(
    '`on`: an address that the issuer has verified is enough to enter the account that has it, unless that has a second factor or is an operator’s. It needs SMTP_URL; accounts that were made before that was set have unconfirmed addresses',
  ),
  OIDC_EMAIL_CLAIM: claim('email').describe('claim with the e-mail address'),
  OIDC_EMAIL_VERIFIED_CLAIM: claim('email_verified').describe(
    'claim that says whether the issuer has verified the address; `always`: it has verified every address that it sends',
  ),
  OIDC_NAME_CLAIM: claim('name').describe('claim with the name of the person'),
  OIDC_GROUPS_CLAIM: claim('groups').describe(
    'claim with the groups of the person, for OIDC_ROLES; `realm_access.roles` is one within another',
  ),
  OIDC_ROLES: z
    .string()
    .transform((text, context) => {
      const found = groupRolesIn(text)
      if (!found)
        context.addIssue('must be group=@account:role, separated by commas, with the number or user name of an account')
      return found ?? []
    })
    .default([])
    .describe(
      'roles that groups of the issuer give in accounts: `editors=@acme:editor, admins=@7:admin`. [Roles by groups](oidc.md#roles-by-groups)',
    ),
  OIDC_OPERATORS: z
    .string()
    .max(20_000, 'must have at most 20,000 characters')
    .transform(groupsIn)
    .default([])
    .describe(
      'groups of the issuer that make operators, separated by commas; `\\,` is a comma within a name. [Operators by groups](oidc.md#operators-by-groups)',
    ),
  OIDC_SCIM_CLAIM: claim('sub').describe(
    'claim that is the `externalId` of a person in the directory of the issuer; people must not be able to change it. [Provisioning](scim.md)',
  ),
  OIDC_LOGOUT: oneOf(['on', 'off'], 'off').describe(
    '`on`: signing out here leads to the sign-out of the issuer, which must know the address of the dashboard',
  ),
  AUTH_PROXY_HEADER: z
    .string()
    .transform((text) => text.toLowerCase())
    .refine(isFreeHeader, 'must be the name of a header that only the proxy sets, for example X-Forwarded-Email')
    .optional()
    .describe(
      'header in which a proxy in front names who is signed in, with AUTH_PROXY_NETWORKS: [sign-in by a proxy](oidc.md#sign-in-by-a-proxy)',
    ),
  AUTH_PROXY_NETWORKS: list
    .refine((given) => given.every(isNetwork), 'must be addresses or networks, for example 10.0.0.7, 172.18.0.0/16')
    .describe(
      'addresses and networks from which that proxy connects, separated by commas; `X-Forwarded-For` does not count',
    ),
  AUTH_PROXY_NAME: z
    .string()
    .max(50, 'must have at most 50 characters')
    .default('single sign-on')
    .describe('name of that proxy on the sign-in page'),
  AUTH_PROXY_REGISTRATION: oneOf(['on', 'off'], 'on').describe(
    '`off`: the first sign-in by that proxy makes no account; one that exists has to be linked first',
  ),
  PASSWORD_SIGN_IN: oneOf(['on', 'off'], 'on').describe(
    '`off`: people sign in with the issuer or the proxy only, and sessions that a password has opened end; API keys work as before',
  ),
} as const

/** Returns the name of the issuer or the proxy that signs people in, for pages. */
export const issuerNameOf = ({
  AUTH_PROXY_HEADER,
  AUTH_PROXY_NAME,
  OIDC_ISSUER,
  OIDC_NAME,
}: {
  readonly AUTH_PROXY_HEADER?: string | undefined
  readonly AUTH_PROXY_NAME: string
  readonly OIDC_ISSUER?: string | undefined
  readonly OIDC_NAME?: string | undefined
}): string | undefined => {
  if (AUTH_PROXY_HEADER !== undefined) return AUTH_PROXY_NAME
  return OIDC_NAME ?? (OIDC_ISSUER === undefined ? undefined : new URL(OIDC_ISSUER).host)
}
