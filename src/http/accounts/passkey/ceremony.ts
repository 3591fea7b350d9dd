import type { Logger } from 'pino'
import { z } from 'zod'
import { account as accounts } from '../../../commands/accounts/account.ts'
import { passkeyKey } from '../../../commands/accounts/register.ts'
import type { Account } from '../../../commands/accounts/state.ts'
import type { Claim } from '../../../commands/claims/claim.ts'
import { verbatim } from '../../../lib/fields.ts'
import {
  answerSeconds,
  type Assertion,
  type Attestation,
  challengeIn,
  handleOf,
  newChallenge,
  PasskeyRefused,
  type PasskeyUses,
  verifyAssertion,
  verifyAttestation,
} from '../../../security/passkeys.ts'
import { seal, unseal } from '../../../security/seal.ts'
import { fail } from '../../api/errors.ts'
import type { Call } from '../../api/route.ts'
import { passkeyCookie } from '../../api/session.ts'

/**
 * The flow of a browser that was asked for a passkey. Sealed in a cookie of that browser, one for each page that asks.
 */
const Flow = z.object({
  for: z.enum(['use', 'add']),
  challenge: z.string(),
  /** ms since 1970 */
  begun: z.number(),
  /** the session that asked; undefined: a sign-in */
  session: z.number().optional(),
})
type Flow = z.output<typeof Flow>

/** longer than any credential id, which has at most 1023 bytes */
const credential = verbatim(1400)
const [clientDataJSON, bytes] = [verbatim(4096), verbatim(16_384)]
const common = { id: credential, rawId: credential, type: z.literal('public-key') }
/** The result of `navigator.credentials.get`, as its `toJSON` writes it. */
export const PasskeyAnswer = z.object({
  ...common,
  response: z.object({
    clientDataJSON,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: verbatim(128).nullish(),
  }),
})
/** The result of `navigator.credentials.create`. */
export const NewPasskey = z.object({ ...common, response: z.object({ clientDataJSON, attestationObject: bytes }) })

type Asking = Pick<Call, 'browser' | 'load' | 'setCookie'>
/** A passkey that was used, and the current state of its account. */
export interface Used {
  readonly account: number
  readonly state: Account
  readonly token: string
}

export interface Passkeys {
  /** Begins a flow. Returns the challenge that the browser's authenticator signs. */
  readonly begin: (asking: Pick<Asking, 'browser' | 'setCookie'>, what: Pick<Flow, 'for' | 'session'>) => string
  /**
   * Returns the passkey that has signed. Fails with 400 unless the response is valid, and the first for its challenge.
   */
  readonly use: (
    asking: Asking,
    answer: Assertion,
    of: { readonly session: number | undefined; readonly account?: number },
  ) => Promise<Used>
  /** Returns the public key of a new passkey, and its first counter. Fails with 400. */
  readonly add: (
    asking: Asking,
    answer: Attestation,
    session: number,
  ) => Promise<{ readonly publicKey: string; readonly counter: number }>
}

export interface PasskeyOptions {
  readonly baseUrl: string
  /** Returns the account that has a name, and the token of its claim. */
  readonly holderOf: (
    name: Pick<Claim, 'kind' | 'name'>,
  ) => Promise<{ readonly account: number; readonly token: string } | undefined>
  readonly log: Pick<Logger, 'warn'>
  /** 32 bytes */
  readonly pepper: Buffer
  readonly uses: PasskeyUses
}

const context = 'use of a passkey'
/** flows that a browser keeps besides a new one: each page has one, or two when it asks again */
const keptBefore = 7

/** Returns the id of a challenge in the name of its cookie. */
const idOf = (challenge: string) => challenge.slice(0, 8)

/** Returns the flow that a browser has begun; undefined when there is none, it is another one, or it took too long. */
const flowIn = (
  pepper: Buffer,
  sealed: string | undefined,
  { for: purpose, session }: Pick<Flow, 'for' | 'session'>,
) => {
  if (sealed === undefined || sealed.length > 4096) return undefined
  try {
    const flow = Flow.parse(JSON.parse(unseal(pepper, context, sealed).toString()))
    const isThis = flow.for === purpose && flow.session === session
    return isThis && Date.now() - flow.begun < answerSeconds * 1000 ? flow : undefined
  } catch {
    return undefined
  }
}

/** Opens flows that ask browsers for passkeys, and check their responses. */
export const openPasskeys = ({ baseUrl, holderOf, log, pepper, uses }: PasskeyOptions): Passkeys => {
  /** Returns the challenge that a browser has signed, and uses it up, even if the response is invalid. */
  const challengeFor = async (
    { browser, setCookie }: Asking,
    { response }: Assertion | Attestation,
    what: Pick<Flow, 'for' | 'session'>,
  ) => {
    const id = idOf(challengeIn(response.clientDataJSON))
    const sealed = browser.passkeys.get(id)
    const flow = flowIn(pepper, sealed, what)
    if (sealed !== undefined) setCookie(passkeyCookie(id, '', baseUrl, 0))
    if (!flow) throw new PasskeyRefused('challenge', 'this browser has not begun this, or it took too long')
    if (!(await uses.answer(flow.challenge))) throw new PasskeyRefused('challenge', 'it was answered before')
    return flow.challenge
  }

  const use = async (asking: Asking, answer: Assertion, of: Parameters<Passkeys['use']>[2]): Promise<Used> => {
    const { session } = of
    const challenge = await challengeFor(asking, answer, { for: 'use', session })
    const holder = await holderOf({ kind: 'passkey', name: passkeyKey(pepper, answer.id) })
    const state = holder && (await asking.load(accounts, holder.account)).state
    const found = state?.passkeys.find(({ token }) => token === holder?.token)
    if (!holder || !state || !found || found.publicKey === null)
      throw new PasskeyRefused('unknown', 'no account has this passkey')
    const { account } = holder
    const { publicKey, number, token } = found
    if (of.account !== undefined && of.account !== account)
      throw new PasskeyRefused('other', `it is one of account ${account}, not ${of.account}`)
    const isKnown = of.account !== undefined
    const handle = handleOf(pepper, account)
    const counter = await verifyAssertion(answer, { baseUrl, challenge, publicKey, handle, isKnown })
    if (!(await uses.count(account, number, counter)))
      throw new PasskeyRefused('counter', `passkey ${number} of account ${account} has counted to ${counter} only`)
    return { account, state, token }
  }

  const refusing = <T>(done: Promise<T>): Promise<T> =>
    done.catch((error: unknown) => {
      if (!(error instanceof PasskeyRefused)) throw error
      const { why, message } = error
      log.warn({ why, problem: message }, 'a passkey was not accepted')
      return fail(400, 'wrong_passkey', why === undefined ? {} : { what: why })
    })

  return {
    begin: ({ browser, setCookie }, what) => {
      const challenge = newChallenge()
      for (const id of [...browser.passkeys.keys()].slice(0, -keptBefore)) setCookie(passkeyCookie(id, '', baseUrl, 0))
      const flow: Flow = { ...what, challenge, begun: Date.now() }
      setCookie(passkeyCookie(idOf(challenge), seal(pepper, context, JSON.stringify(flow)), baseUrl, answerSeconds))
      return challenge
    },
    use: (...given) => refusing(use(...given)),
    add: (asking, answer, session) =>
      refusing(
        challengeFor(asking, answer, { for: 'add', session }).then((challenge) =>
          verifyAttestation(answer, { baseUrl, challenge }),
        ),
      ),
  }
}
