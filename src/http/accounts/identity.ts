import { z } from 'zod'
import { account } from '../../commands/accounts/account.ts'
import { refuse } from '../../commands/decider.ts'
import { text } from '../../lib/fields.ts'
import { NotSignedIn } from '../../security/notsignedin.ts'
import type { Sessions } from '../../security/sessions.ts'
import { fail } from '../api/errors.ts'
import { byId } from '../api/fields.ts'
import { type Call, endpoint, type Route } from '../api/route.ts'
import { given } from './account.ts'
import type { StepUps } from './credentials.ts'
import { beginFlow, type Flow, type FlowServices, placeOf } from './flow.ts'
import { identityContract } from './contract/identity.ts'

/** What the routes of identities need. */
export interface IdentityServices extends FlowServices {
  readonly sessions: Pick<Sessions, 'endOf'>
  readonly stepUps: Pick<StepUps, 'require'>
}

/** s until a sign-in is tried again while the issuer is away */
export const retryAfter = 30

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
      return goToIssuer(services, call, 'link')
    },
  })

const remove = ({ sessions, stepUps }: IdentityServices) =>
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
      return { message: 'The identity is removed, and its sessions have ended.' }
    },
  })

const confirm = (services: IdentityServices) =>
  endpoint(identityContract, 'POST /api/session/confirm/identity', {
    ofSession: true,
    scope: [],
    person: true,
    body: To,
    run: async (call) => goToIssuer(services, call, 'confirm'),
  })

export const identityRoutes = (services: IdentityServices): readonly Route[] => [
  list,
  add(services),
  remove(services),
  confirm(services),
]
