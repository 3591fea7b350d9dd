import type { PasskeyAdding, PasskeyBegun } from '../../http/accounts/contract/passkey.ts'
import { t } from './alltexts.ts'
import { ApiError, request } from './api.ts'
import { service, shortHost } from './session.ts'
import { fill, loadTexts } from './texts.ts'

type Begin = '/api/session/passkey/begin' | '/api/session/confirm/passkey/begin'

/** Browsers before 2025 lack the functions that read and write the JSON of the API. */
const isAble = () => 'PublicKeyCredential' in window && 'parseRequestOptionsFromJSON' in PublicKeyCredential

/** Ends the offer on the sign-in page: a browser answers one request at a time, and has one challenge. */
let endOffer = async () => {}

/** Throws the reason why a browser returned no passkey, as a sentence. */
const refused = (error: unknown): never => {
  const texts = t().account
  const { name } = error as { readonly name?: string }
  if (name === 'SecurityError') throw new ApiError(0, fill(texts.passkeyHost, { host: shortHost }))
  if (name === 'InvalidStateError') throw new ApiError(0, texts.passkeyTwice)
  throw new ApiError(0, texts.passkeyCancelled)
}

/** Asks the browser for a credential of the service. Throws `ApiError`. */
const ask = async (from: () => Promise<Credential | null>): Promise<unknown> => {
  const given = await from().catch(refused)
  return (given as PublicKeyCredential | null)?.toJSON() ?? refused(undefined)
}

const requireAble = async () => {
  await loadTexts()
  await endOffer()
  if (!isAble()) throw new ApiError(0, t().account.passkeyNone)
}

const publicKeyOf = (options: PasskeyBegun['options']) =>
  PublicKeyCredential.parseRequestOptionsFromJSON(options as PublicKeyCredentialRequestOptionsJSON)

/** Asks for a passkey. Throws `ApiError`. */
export const askPasskey = async (begin: Begin): Promise<unknown> => {
  await requireAble()
  const { options } = await request<PasskeyBegun>('POST', begin)
  return ask(() => navigator.credentials.get({ publicKey: publicKeyOf(options) }))
}

/** Creates a passkey, once the service has accepted `proof`. Throws `ApiError`. */
export const makePasskey = async (proof: object): Promise<unknown> => {
  await requireAble()
  const { options } = await request<PasskeyAdding>('POST', '/api/passkey/begin', proof)
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as PublicKeyCredentialCreationOptionsJSON)
  return ask(() => navigator.credentials.create({ publicKey }))
}

/** ms after which an offer is renewed: the service accepts a response for five minutes */
const renewed = 270_000

/** Makes one offer. Returns the chosen passkey; undefined when none was chosen, null when the offer must be renewed. */
const offer = async (ended: AbortSignal): Promise<unknown> => {
  const { options } = await request<PasskeyBegun>('POST', '/api/session/passkey/begin')
  const old = new AbortController()
  const timer = setTimeout(() => old.abort(), renewed)
  const end = () => old.abort()
  ended.addEventListener('abort', end, { once: true })
  try {
    if (ended.aborted) return undefined
    const publicKey = publicKeyOf(options)
    const given = await navigator.credentials.get({ publicKey, mediation: 'conditional', signal: old.signal })
    return (given as PublicKeyCredential).toJSON()
  } catch {
    return old.signal.aborted && !ended.aborted ? null : undefined
  } finally {
    clearTimeout(timer)
    ended.removeEventListener('abort', end)
  }
}

/**
 * Offers passkeys in the browser's autofill of the e-mail address. Returns the chosen passkey; undefined when the
 * visitor chooses none before they use the button or leave.
 */
export const offerPasskeys = async (gone: AbortSignal): Promise<unknown> => {
  const isHere = isAble() && location.hostname === new URL(service.baseUrl).hostname
  const ended = new AbortController()
  gone.addEventListener('abort', () => ended.abort(), { once: true })
  const offers = async () => {
    if (!isHere || !(await PublicKeyCredential.isConditionalMediationAvailable?.().catch(() => false))) return undefined
    for (;;) {
      const chosen = ended.signal.aborted ? undefined : await offer(ended.signal).catch(() => undefined)
      if (chosen !== null) return chosen
    }
  }
  const made = offers()
  endOffer = async () => {
    ended.abort()
    await made
  }
  return made
}
