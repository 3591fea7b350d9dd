import type { Cache } from '../../cache/cache.ts'
import { findHolder } from '../../commands/claims/writes.ts'
import { parseStreamId } from '../../events/streams.ts'
import { type Entrance, openEntrance } from '../../http/accounts/entrance.ts'
import { backchannelPath } from '../../http/public/account/backchannel.ts'
import { Role } from '../../events/accounts/role.ts'
import { isSameIssuer } from '../../lib/issuers.ts'
import { OperatorError } from '../../lib/operatorerror.ts'
import { inNetworks } from '../../lib/networks.ts'
import { idSequence } from '../../postgres/ids.ts'
import { openAuthProxy, proxyIssuer } from '../../security/authproxy.ts'
import type { Credential, Credentials } from '../../security/credential.ts'
import { type Issuer, openIssuer } from '../../security/issuer.ts'
import { openSessions } from '../../security/sessions.ts'
import type { repeat as repeatWork } from '../jobs/repeat.ts'
import type { Ledger } from '../log/ledger.ts'
import { openDirectoryGate } from './gate.ts'
import { openGroupRoles } from './grouproles.ts'

/** ms between deletions of expired sessions */
const cleanupEvery = 900_000

/** Returns a function that finds the account of a name, and the token of its claim. */
export const holderOf =
  ({ handler, store }: Pick<Ledger, 'handler' | 'store'>) =>
  async (name: Parameters<typeof findHolder>[2]) => {
    const holder = await findHolder(store, handler.load, name)
    return holder && { account: parseStreamId(holder.stream).number, token: holder.token }
  }

/** The address that the issuer sends browsers back to; its settings must have exactly this address. */
export const redirectAddress = (baseUrl: string) => `${baseUrl}/oidc/callback`

/** The address to which the issuer reports a logout. */
export const backchannelAddress = (baseUrl: string) => `${baseUrl}${backchannelPath}`

/** Returns a function that opens the entrance for people whom an issuer or a proxy signs in. */
export const entrances =
  (
    { config, db, handler, keys, store }: Pick<Ledger, 'config' | 'db' | 'handler' | 'keys' | 'store'>,
    progress: Cache['progress'],
    countRegistration: (from: string) => Promise<void>,
  ) =>
  (registers: boolean, linksByEmail: boolean): Entrance =>
    openEntrance({
      directory: openDirectoryGate({ config, db, handler, keys }),
      handler,
      nextId: idSequence(db, 'account'),
      progress,
      countRegistration,
      pepper: keys.service,
      registers,
      linksByEmail,
      holderOf: holderOf({ handler, store }),
    })

/** Opens the proxy that signs people in, with AUTH_PROXY_HEADER. It never links an account by an address alone. */
export const openProxied = (
  { AUTH_PROXY_HEADER: header, AUTH_PROXY_NETWORKS, AUTH_PROXY_REGISTRATION }: Ledger['config'],
  entranceWith: ReturnType<typeof entrances>,
) =>
  header === undefined
    ? undefined
    : {
        authProxy: openAuthProxy(header, inNetworks(AUTH_PROXY_NETWORKS)),
        entrance: entranceWith(AUTH_PROXY_REGISTRATION === 'on', false),
      }

/** Opens the issuer that signs people in, with OIDC_ISSUER. */
export const openSignIn = (config: Ledger['config'], entranceWith: ReturnType<typeof entrances>, baseUrl: string) => {
  const { OIDC_ISSUER, OIDC_CLIENT_ID = '', OIDC_EMAIL_VERIFIED_CLAIM: verified } = config
  const { OIDC_LINK_VERIFIED_EMAIL, OIDC_REGISTRATION } = config
  if (OIDC_ISSUER === undefined) return undefined
  const issuer = openIssuer({
    issuer: OIDC_ISSUER,
    clientId: OIDC_CLIENT_ID,
    clientSecret: config.OIDC_CLIENT_SECRET,
    scopes: config.OIDC_SCOPES,
    redirect: redirectAddress(baseUrl),
    claims: {
      email: config.OIDC_EMAIL_CLAIM,
      verified: verified === 'always' ? undefined : verified,
      name: config.OIDC_NAME_CLAIM,
      groups: config.OIDC_GROUPS_CLAIM,
      directory: config.OIDC_SCIM_CLAIM,
    },
  })
  return { issuer, entrance: entranceWith(OIDC_REGISTRATION === 'on', OIDC_LINK_VERIFIED_EMAIL === 'on') }
}

/** Returns the roles that groups grant. Throws for an unknown role. */
const groupRolesOf = (given: Ledger['config']['OIDC_ROLES']) =>
  given.map(({ role, ...of }) => {
    const known = Role.safeParse(role)
    if (known.success) return { ...of, role: known.data }
    throw new OperatorError(`OIDC_ROLES: ${role} is no role; use one of ${Role.options.join(', ')}`)
  })

/**
 * Returns a function that tells whether a session counts: a session that a password or an issuer opened counts only
 * while that way to sign in is enabled.
 */
const countingWith =
  ({ OIDC_ISSUER, PASSWORD_SIGN_IN }: Ledger['config']) =>
  (one: Credential, { identities }: Credentials): boolean => {
    if (one.kind === 'password') return PASSWORD_SIGN_IN === 'on'
    if (one.kind !== 'identity') return true
    const issuer = identities.find(({ token }) => token === one.token)?.issuer ?? ''
    // identities of a proxy count while the proxy sends their names
    return issuer === proxyIssuer || (OIDC_ISSUER !== undefined && isSameIssuer(issuer, OIDC_ISSUER))
  }

/** Opens the sessions of people, and the update of their roles from groups while they use them. */
export const openSignedIn = (
  {
    config,
    db,
    handler,
    jobs,
    keys,
    log,
    reader,
  }: Pick<Ledger, 'config' | 'db' | 'handler' | 'jobs' | 'keys' | 'log' | 'reader'>,
  progress: Cache['progress'],
  issuer: Issuer | undefined,
  repeat: typeof repeatWork,
) => {
  const sessions = openSessions(db, keys.service, config.SESSION_DAYS, countingWith(config), (id) => {
    void groupRoles
      .keepInStep(id)
      .catch((error: unknown) => log.error({ err: error }, 'groups could not be read again'))
  })
  const forRoles = {
    db,
    handler,
    log,
    pepper: keys.service,
    progress,
    reader,
    roles: groupRolesOf(config.OIDC_ROLES),
    operators: config.OIDC_OPERATORS,
    sessions,
  }
  const ofIssuer = { issuer, issuerAddress: config.OIDC_ISSUER ?? '' }
  const groupRoles = openGroupRoles({ ...forRoles, ...ofIssuer, sessionDays: config.SESSION_DAYS })
  const cleanup = jobs.open('sessions', 'expired sessions are not deleted')
  const cleanUp = async () => {
    await sessions.deleteExpired()
    await groupRoles.endOverdue()
  }
  const stopCleanup = repeat(cleanup.watching(cleanUp), cleanupEvery, (error) =>
    log.error({ err: error }, 'expired sessions could not be deleted'),
  )
  return { sessions, groupRoles, stopCleanup }
}
