import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { account } from '../../../commands/accounts/account.ts'
import { passkeyKey } from '../../../commands/accounts/register.ts'
import { refuse } from '../../../commands/decider.ts'
import { countRevision } from '../../../commands/load.ts'
import { says, text, timestamp } from '../../../lib/fields.ts'
import { algorithms, answerSeconds, handleOf, hostOfPasskeys, type PasskeyUses } from '../../../security/passkeys.ts'
import type { Sessions } from '../../../security/sessions.ts'
import { fail } from '../../api/errors.ts'
import { byId } from '../../api/fields.ts'
import { type Call, endpoint, type Route } from '../../api/route.ts'
import { given } from '../account.ts'
import { passkeyContract } from '../contract/passkey.ts'
import type { StepUps } from '../credentials.ts'
import type { Mails } from '../mails.ts'
import { NewPasskey, type Passkeys } from './ceremony.ts'
import { credentialsOf } from './signin.ts'

/** What the routes of passkeys need. */
export interface PasskeyServices {
  readonly baseUrl: () => string
  /** undefined without SMTP_URL */
  readonly mails: Mails | undefined
  readonly passkeys: Passkeys
  readonly passkeyUses: PasskeyUses
  /** whether people may sign in with passwords */
  readonly passwordSignIn: boolean
  /** 32 bytes */
  readonly pepper: Buffer
  readonly sessions: Pick<Sessions, 'endOf'>
  readonly stepUps: Pick<StepUps, 'require'>
}

const name = text(255).refine((word) => word !== '', says('empty'))

const list = ({ passkeyUses }: PasskeyServices) =>
  endpoint(passkeyContract, 'GET /api/passkeys', {
    scope: 'account',
    person: true,
    run: async ({ account: id, credential, load, reader }) => {
      const [{ state }, uses] = await Promise.all([load(account, id), passkeyUses.list(id, reader.db)])
      const used = new Map(uses.map((one) => [one.number, one.used]))
      return {
        data: {
          passkeys: state.passkeys.map((one) => {
            const last = used.get(one.number)
            return {
              id: one.number,
              name: one.name ?? '',
              date: timestamp(one.added),
              lastused: last ? timestamp(last) : '',
              current: credential?.kind === 'passkey' && credential.token === one.token,
            }
          }),
          password: state.password !== null,
        },
      }
    },
  })

const begin = ({ baseUrl, passkeys, pepper, stepUps }: PasskeyServices) =>
  endpoint(passkeyContract, 'POST /api/passkey/begin', {
    ofSession: true,
    scope: 'account',
    person: true,
    body: z.object(given),
    run: async (call) => {
      const { account: id, body, load, session } = call
      if (session === undefined) return fail(400, 'not_dashboard', { what: 'session' })
      await stepUps.require('passkeys', call, body)
      const { email, passkeys: own, username } = (await load(account, id)).state
      const challenge = passkeys.begin(call, { for: 'add', session })
      const host = hostOfPasskeys(baseUrl())
      return {
        options: {
          challenge,
          rp: { id: host, name: `Linkledger ${host}` },
          user: { id: handleOf(pepper, id), name: email ?? username ?? '', displayName: username ?? '' },
          pubKeyCredParams: algorithms.map((alg) => ({ alg, type: 'public-key' as const })),
          timeout: answerSeconds * 1000,
          attestation: 'none' as const,
          authenticatorSelection: {
            residentKey: 'required' as const,
            requireResidentKey: true as const,
            userVerification: 'required' as const,
          },
          excludeCredentials: credentialsOf(own.map(({ credential }) => credential)),
        },
      }
    },
  })

const add = ({ mails, passkeys, passkeyUses, pepper }: PasskeyServices) =>
  endpoint(passkeyContract, 'POST /api/passkey/add', {
    ofSession: true,
    scope: 'account',
    person: true,
    body: z.object({ passkey: NewPasskey, name: name.optional() }),
    run: async (call) => {
      const { account: id, body, browser, lang, load, session, write } = call
      if (session === undefined) return fail(400, 'not_dashboard', { what: 'session' })
      const { publicKey, counter } = await passkeys.add(call, body.passkey, session)
      const { id: credential } = body.passkey
      const { browser: family, os } = browser.client
      const passkey = {
        name: body.name ?? `${family}, ${os}`,
        credential,
        publicKey,
        added: new Date().toISOString(),
        passkeyKey: passkeyKey(pepper, credential),
        passkeyToken: randomUUID(),
      }
      const after = countRevision((await load(account, id)).revision)
      await mails?.order({ kind: 'passkeyAdded', lang, after }, id)
      const { state } = await write(account, { type: 'AddPasskey', id, passkey })
      const added =
        state.passkeys.find((one) => one.credential === credential) ?? refuse('not_found', { what: 'passkey' })
      await passkeyUses.begin(id, added.number, counter)
      return { id: added.number, message: 'The passkey signs in to the account from now on.' }
    },
  })

/** Returns a passkey of the account that a request names, for a session. */
const named = async ({ account: id, load, params, session }: Call<{ readonly id: number }>) => {
  if (session === undefined) return fail(400, 'not_dashboard', { what: 'session' })
  const { state, revision } = await load(account, id)
  const found = state.passkeys.find(({ number }) => number === params.id) ?? refuse('not_found', { what: 'passkey' })
  return { ...found, revision }
}

const rename = endpoint(passkeyContract, 'PUT /api/passkey/:id/update', {
  scope: 'account',
  person: true,
  params: byId,
  body: z.object({ name }),
  run: async (call) => {
    const { number } = await named(call)
    await call.write(account, { type: 'RenamePasskey', id: call.account, number, name: call.body.name })
    return { message: 'The passkey has another name.' }
  },
})

const remove = ({ mails, passkeyUses, passwordSignIn, sessions, stepUps }: PasskeyServices) =>
  endpoint(passkeyContract, 'DELETE /api/passkey/:id/delete', {
    scope: 'account',
    person: true,
    params: byId,
    run: async (call) => {
      const { account: id, lang, write } = call
      const { number, token, revision } = await named(call)
      await stepUps.require('removePasskey', call)
      await mails?.order({ kind: 'passkeyRemoved', lang, after: countRevision(revision) }, id)
      await write(account, { type: 'RemovePasskey', id, number, withoutPasswords: !passwordSignIn })
      await sessions.endOf(id, { kind: 'passkey', token })
      await passkeyUses.forget(id, number)
      return { message: 'The passkey is removed, and its sessions have ended.' }
    },
  })

export const passkeyRoutes = (services: PasskeyServices): readonly Route[] => [
  list(services),
  begin(services),
  add(services),
  rename,
  remove(services),
]
