import { z } from 'zod'
import { account } from '../../../commands/accounts/account.ts'
import { fail } from '../../api/errors.ts'
import { endpoint, type Route } from '../../api/route.ts'
import { knownBrowser } from '../../../security/knownbrowsers.ts'
import { answerSeconds, hostOfPasskeys } from '../../../security/passkeys.ts'
import { passkeyContract } from '../contract/passkey.ts'
import { PasskeyAnswer, type Passkeys } from './ceremony.ts'
import { type EnteringServices, openFor, requireOpen } from './entering.ts'

/** What signing in with a passkey needs. */
export interface PasskeySignInServices extends EnteringServices {
  readonly passkeys: Passkeys
}

const Answered = z.object({ passkey: PasskeyAnswer })

/** What `navigator.credentials.get` needs. Without a list, the browser offers all passkeys for this host. */
const optionsOf = (baseUrl: string, challenge: string, ids: readonly (string | null)[] = []) => ({
  challenge,
  rpId: hostOfPasskeys(baseUrl),
  timeout: answerSeconds * 1000,
  userVerification: 'required' as const,
  allowCredentials: credentialsOf(ids),
})

/** Names passkeys to a browser. */
export const credentialsOf = (ids: readonly (string | null)[]) =>
  ids.flatMap((id) => (id === null ? [] : [{ id, type: 'public-key' as const }]))

const begin = ({ baseUrl, passkeys }: PasskeySignInServices) =>
  endpoint(passkeyContract, 'POST /api/session/passkey/begin', {
    ofSession: true,
    public: true,
    run: async (call) => {
      // as what a session asks for without one: pages of other sites get 403 before
      if (!call.browser.sameOrigin) fail(400, 'not_dashboard', { what: 'sign_in' })
      const challenge = passkeys.begin(call, { for: 'use' })
      return { options: optionsOf(baseUrl(), challenge) }
    },
  })

const signIn = (services: PasskeySignInServices) =>
  endpoint(passkeyContract, 'POST /api/session/passkey', {
    ofSession: true,
    public: true,
    body: Answered,
    run: async (call) => {
      const { body, browser } = call
      if (!browser.sameOrigin) fail(403, 'not_dashboard', { what: 'sign_in' })
      const { account: id, state, token } = await services.passkeys.use(call, body.passkey, { session: undefined })
      requireOpen(state)
      const known = knownBrowser(services.pepper, { id, state }, browser.markOf(id))
      const credential = { kind: 'passkey', token } as const
      const { session, setCookies } = await openFor(call, services, { id, state, credential, known })
      setCookies()
      return { id, username: state.username ?? '', session }
    },
  })

const beginConfirmation = ({ baseUrl, passkeys }: PasskeySignInServices) =>
  endpoint(passkeyContract, 'POST /api/session/confirm/passkey/begin', {
    ofSession: true,
    scope: [],
    person: true,
    run: async (call) => {
      const { account: id, load, session } = call
      if (session === undefined) return fail(400, 'not_dashboard', { what: 'session' })
      const { passkeys: own } = (await load(account, id)).state
      if (own.length === 0) return fail(404, 'not_found', { what: 'passkey' })
      const challenge = passkeys.begin(call, { for: 'use', session })
      const ids = own.map(({ credential }) => credential)
      return { options: optionsOf(baseUrl(), challenge, ids) }
    },
  })

const confirm = ({ passkeys, sessions }: PasskeySignInServices) =>
  endpoint(passkeyContract, 'POST /api/session/confirm/passkey', {
    ofSession: true,
    scope: [],
    person: true,
    body: Answered,
    run: async (call) => {
      const { account: id, body, session } = call
      if (session === undefined) return fail(400, 'not_dashboard', { what: 'session' })
      await passkeys.use(call, body.passkey, { account: id, session })
      await sessions.confirm(session)
      return { message: 'The passkey was right. It counts for ten minutes.' }
    },
  })

export const passkeySignInRoutes = (services: PasskeySignInServices): readonly Route[] => [
  begin(services),
  signIn(services),
  beginConfirmation(services),
  confirm(services),
]
