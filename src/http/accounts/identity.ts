import { z } from 'zod'
import { account } from '../../commands/accounts/account.ts'
import { requireCredential } from '../../commands/accounts/credential.ts'
import { isTaken } from '../../commands/claims/taken.ts'
import { refuse } from '../../commands/decider.ts'
import { text } from '../../lib/fields.ts'
import { proxiedPerson } from '../../security/authproxy.ts'
import type { Credentials } from '../../security/credential.ts'
import { NotSignedIn } from '../../security/notsignedin.ts'
import type { Sessions } from '../../security/sessions.ts'
import { fail } from '../api/errors.ts'
import { byId } from '../api/fields.ts'
import { type Call, endpoint, type Route } from '../api/route.ts'
import { given } from './account.ts'
import type { StepUps } from './credentials.ts'
import type { Entrance } from './entrance.ts'
import { beginFlow, type Flow, type FlowServices, placeOf } from './flow.ts'
import { identityContract } from './contract/identity.ts'

/** The roles that groups of an issuer grant. */
export interface ManagedRoles {
  /** Ends the roles of a person who no longer signs in with it. */
  readonly end: (account: number) => Promise<void>
  /** Whether groups may grant a person a role in an account. */
  readonly gives: (person: number, account: number) => Promise<boolean>
}

/** Dependencies of the routes of identities. */
export interface IdentityServices extends FlowServices {
  readonly sessions: Pick<Sessions, 'endOf'>
  readonly stepUps: Pick<StepUps, 'require'>
  /** reads and ends the roles from groups of the issuer; undefined without OIDC_ISSUER */
  readonly groupRoles: ManagedRoles | undefined
  /** links people whom a proxy names; undefined without AUTH_PROXY_HEADER */
  readonly proxy: Pick<Entrance, 'link'> | undefined
}

/** s until a sign-in is retried while the issuer is unavailable */
export const retryAfter = 30

/** The address at which a browser signs in through the proxy, and continues from there. */
const proxyAddress = (to: string) => `/account/proxy?to=${encodeURIComponent(to)}`

const To = z.object({ to: text(500).optional() })

/** Sends the browser of a session to the issuer. */
const goToIssuer = async (
  services: FlowServices,
  { body, session, setCookie }: Pick<Call<unknown, unknown, z.output<typeof To>>, 'body' | 'session' | 'setCookie'>,
  purpose: Exclude<Flow['for'], 'signIn'>,
) => {
  const { issuer } = services
  if (!issuer) return fail(404, 'not_found', { what: 'issuer' })
  if (session === undefined) return fail(400, 'not_dashboard', { what: 'session' })
  const begun = await beginFlow({ ...services, issuer }, { for: purpose, to: placeOf(body.to), session }).catch(
    (error: unknown) => {
      if (!(error instanceof NotSignedIn)) throw error
      return fail(503, 'unavailable', { what: 'issuer' }, { 'Retry-After': String(retryAfter) })
    },
  )
  setCookie(begun.cookie)
  return { address: begun.address }
}

/** Links the person whom the proxy names in this request, without a redirect. */
const linkProxied = async (
  proxy: Pick<Entrance, 'link'>,
  { account: id, body, browser, credential }: Call<unknown, unknown, z.output<typeof To>>,
) => {
  if (!browser.proxied || !credential) return fail(400, 'not_dashboard', { what: 'proxy' })
  const requires = requireCredential(credential)
  await proxy
    .link(proxiedPerson(browser.proxied), id, (state) => requires(state as Credentials))
    .catch((error: unknown) => {
      if (!(error instanceof NotSignedIn) && !isTaken(error, 'identity')) throw error
      return refuse('taken', { what: 'identity' })
    })
  return { address: placeOf(body.to) }
}

const list = endpoint(identityContract, 'GET /api/identities', {
  scope: 'account',
  person: true,
  run: async ({ account: id, credential, load }) => {
    const { identities, password } = (await load(account, id)).state
    return {
      data: {
        identities: identities.map(({ number, issuer, subject, name, token }) => ({
          id: number,
          issuer: issuer ?? '',
          subject: subject ?? '',
          name: name ?? '',
          current: credential?.kind === 'identity' && credential.token === token,
        })),
        password: password !== null,
      },
    }
  },
})

const add = (services: IdentityServices) =>
  endpoint(identityContract, 'POST /api/identity/add', {
    ofSession: true,
    scope: 'account',
    person: true,
    body: To.extend(given),
    run: async (call) => {
      await services.stepUps.require('identities', call, call.body)
      return services.proxy ? linkProxied(services.proxy, call) : goToIssuer(services, call, 'link')
    },
  })

const remove = ({ groupRoles, sessions, stepUps }: IdentityServices) =>
  endpoint(identityContract, 'DELETE /api/identity/:id/delete', {
    scope: 'account',
    person: true,
    params: byId,
    run: async (call) => {
      const { account: id, load, params, write } = call
      const found = (await load(account, id)).state.identities.find(({ number }) => number === params.id)
      if (!found) return refuse('not_found', { what: 'identity' })
      await stepUps.require('unlink', call)
      await write(account, { type: 'RemoveIdentity', id, number: params.id })
      await sessions.endOf(id, { kind: 'identity', token: found.token })
      await groupRoles?.end(id)
      return { message: 'The identity is removed, and its sessions have ended.' }
    },
  })

const confirm = (services: IdentityServices) =>
  endpoint(identityContract, 'POST /api/session/confirm/identity', {
    ofSession: true,
    scope: [],
    person: true,
    body: To,
    run: async (call) =>
      services.proxy && call.session !== undefined
        ? { address: proxyAddress(placeOf(call.body.to)) }
        : goToIssuer(services, call, 'confirm'),
  })

export const identityRoutes = (services: IdentityServices): readonly Route[] => [
  list,
  add(services),
  remove(services),
  confirm(services),
]
