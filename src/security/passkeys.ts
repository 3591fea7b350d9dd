import { createHash, createHmac, randomBytes } from 'node:crypto'
import { readJson } from '../lib/strangers.ts'
import type { Database } from '../postgres/database.ts'
import {
  deletePasskey,
  insertAnswer,
  insertCounter,
  type PasskeyUse,
  passkeyUses,
  raiseCounter,
} from '../postgres/passkeys.ts'

/** It is loaded with the first passkey: it brings readers of certificates, which take memory. */
const load = async () => {
  const [{ verifyAuthenticationResponse, verifyRegistrationResponse }, helpers] = await Promise.all([
    import('@simplewebauthn/server'),
    import('@simplewebauthn/server/helpers'),
  ])
  return { verifyAuthenticationResponse, verifyRegistrationResponse, ...helpers }
}

/** Why a passkey is not accepted, in the words of the API; undefined: its answer is not valid here. */
export type PasskeyFault = 'challenge' | 'unknown' | 'other' | 'counter'

/** A passkey is not accepted. The message is for the operator, and discloses nothing of the person. */
export class PasskeyRefused extends Error {
  override readonly name = 'PasskeyRefused'
  readonly why: PasskeyFault | undefined
  constructor(why: PasskeyFault | undefined, message: string, cause?: unknown) {
    super(message, { cause })
    this.why = why
  }
}

/** What a browser answers, as its `toJSON` writes it. */
interface Answer<R> {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly response: R
}
export type Assertion = Answer<{
  readonly clientDataJSON: string
  readonly authenticatorData: string
  readonly signature: string
  readonly userHandle?: string | null | undefined
}>
export type Attestation = Answer<{ readonly clientDataJSON: string; readonly attestationObject: string }>

/** s that an answer may take */
export const answerSeconds = 300
/** ES256, EdDSA and RS256: every authenticator has one of them */
export const algorithms = [-7, -8, -257]

export const newChallenge = (): string => randomBytes(32).toString('base64url')

/** Returns the challenge that an answer says to be for, which has to be verified; an empty string when it says none. */
export const challengeIn = (clientDataJSON: string): string => {
  const read = readJson(Buffer.from(clientDataJSON, 'base64url').toString(), { levels: 4, values: 100 })
  const { challenge } = { ...('value' in read && (read.value as { readonly challenge?: unknown })) }
  return typeof challenge === 'string' ? challenge : ''
}

/** Passkeys are bound to this host for good: browsers offer them nowhere else. */
export const hostOfPasskeys = (baseUrl: string): string => new URL(baseUrl).hostname

/** Returns what an authenticator knows an account by: it says nothing of the person. */
export const handleOf = (pepper: Buffer, account: number): string =>
  createHmac('sha256', pepper).update(`user handle ${account}`).digest('base64url')

const refusing = <T>(made: Promise<T>): Promise<T> =>
  made.catch((error: unknown) => {
    throw error instanceof PasskeyRefused
      ? error
      : new PasskeyRefused(undefined, error instanceof Error ? error.message.slice(0, 200) : 'no answer', error)
  })

const expected = (baseUrl: string, challenge: string) => ({
  expectedChallenge: challenge,
  expectedOrigin: new URL(baseUrl).origin,
  expectedRPID: hostOfPasskeys(baseUrl),
  requireUserVerification: true,
})

type Library = Awaited<ReturnType<typeof load>>
/** A page of another site could show this one in a frame, and get an answer for it. */
const requireOwnPage = ({ decodeClientDataJSON }: Library, clientDataJSON: string) => {
  const { crossOrigin, topOrigin } = decodeClientDataJSON(clientDataJSON)
  if (crossOrigin === true || topOrigin !== undefined) throw new Error('the answer is that of a frame in another site')
}

/** Returns the public key in an answer, and its first counter. Throws `PasskeyRefused`. */
export const verifyAttestation = (
  answer: Attestation,
  { baseUrl, challenge }: { readonly baseUrl: string; readonly challenge: string },
): Promise<{ readonly publicKey: string; readonly counter: number }> => {
  const verified = async () => {
    const library = await load()
    const { clientDataJSON, attestationObject } = answer.response
    requireOwnPage(library, clientDataJSON)
    // who has made the authenticator is not asked: its certificate would name an address to look up
    const authData = library
      .decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')))
      .get('authData')
    const bare = library.isoCBOR.encode(
      new Map<string, string | Uint8Array | Map<string, never>>([
        ['fmt', 'none'],
        ['attStmt', new Map<string, never>()],
        ['authData', authData],
      ]),
    )
    const { verified: isRight, registrationInfo } = await library.verifyRegistrationResponse({
      response: {
        ...answer,
        clientExtensionResults: {},
        response: { clientDataJSON, attestationObject: Buffer.from(bare).toString('base64url') },
      },
      ...expected(baseUrl, challenge),
      supportedAlgorithmIDs: algorithms,
    })
    const found = isRight ? registrationInfo.credential : undefined
    if (found?.id !== answer.id) throw new Error('the answer names another passkey than its authenticator')
    return { publicKey: Buffer.from(found.publicKey).toString('base64url'), counter: found.counter }
  }
  return refusing(verified())
}

/** Returns the signature counter in an answer, which is right. Throws `PasskeyRefused`. */
export const verifyAssertion = (
  answer: Assertion,
  of: {
    readonly baseUrl: string
    readonly challenge: string
    readonly publicKey: string
    readonly handle: string
    /** whether the account was known before: an authenticator need not name it then */
    readonly isKnown: boolean
  },
): Promise<number> => {
  const verified = async () => {
    const library = await load()
    const { userHandle, ...response } = answer.response
    requireOwnPage(library, response.clientDataJSON)
    const isNamed = userHandle !== undefined && userHandle !== null && userHandle !== ''
    if (isNamed ? userHandle !== of.handle : !of.isKnown)
      throw new Error('the answer is for another account than that of the passkey')
    const found = await library.verifyAuthenticationResponse({
      response: { ...answer, response, clientExtensionResults: {} },
      ...expected(of.baseUrl, of.challenge),
      // the counter is compared where it is stored: two answers at once must not both be the next one
      credential: { id: answer.id, publicKey: new Uint8Array(Buffer.from(of.publicKey, 'base64url')), counter: 0 },
    })
    if (!found.verified) throw new Error('the signature is wrong')
    return found.authenticationInfo.newCounter
  }
  return refusing(verified())
}

/** What is known of passkeys besides the log: which challenges were answered, and how far each has counted. */
export interface PasskeyUses {
  /** Uses a challenge up. Returns false when it was answered before. */
  readonly answer: (challenge: string) => Promise<boolean>
  readonly begin: (account: number, number: number, counter: number) => Promise<void>
  /** Notes a use. Returns false when the counter has not gone up. */
  readonly count: (account: number, number: number, counter: number) => Promise<boolean>
  readonly list: (account: number, from: Database) => Promise<readonly PasskeyUse[]>
  readonly forget: (account: number, number: number) => Promise<void>
}

export const openPasskeyUses = (db: Database): PasskeyUses => ({
  answer: (challenge) => insertAnswer(db, createHash('sha256').update(challenge).digest(), answerSeconds + 60),
  begin: (account, number, counter) => insertCounter(db, account, number, counter),
  count: (account, number, counter) => raiseCounter(db, account, number, counter),
  list: (account, from) => passkeyUses(from, account),
  forget: (account, number) => deletePasskey(db, account, number),
})
