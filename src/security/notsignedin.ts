/** Why somebody is not signed in, in the words that a page has for it. */
export type Hindrance =
  | 'away'
  | 'proxy'
  | 'begin'
  | 'answer'
  | 'refused'
  | 'fresh'
  | 'unknown'
  | 'taken'
  | 'unverified'
  | 'linked'
  | 'disabled'
  | 'deactivated'
  | 'session'
  | 'other'

/** Somebody is not signed in. The message is for the operator, and discloses nothing of the person. */
export class NotSignedIn extends Error {
  override readonly name = 'NotSignedIn'
  readonly why: Hindrance
  constructor(why: Hindrance, message: string, cause?: unknown) {
    super(message, { cause })
    this.why = why
  }
}

/** Whether a failure is that the issuer does not answer, or cannot. */
const isAway = (error: unknown): boolean => {
  const { code, status, name, cause } = error as {
    readonly code?: string
    readonly status?: number
    readonly name?: string
    readonly cause?: unknown
  }
  if (status !== undefined && status >= 500) return true
  if (cause instanceof Response) return cause.status >= 500
  if (code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT' || name === 'TimeoutError') return true
  // what `fetch` throws when there is no connection
  return error instanceof TypeError
    ? error.message === 'fetch failed'
    : cause !== undefined && cause !== error && isAway(cause)
}

/** What an error says, and what it comes from, without the tokens that causes may have. */
const textOf = (error: unknown): string => {
  const { message = '', code, cause } = error as { message?: string; code?: string; cause?: unknown }
  const reason = cause instanceof Error && cause.message !== message ? `: ${cause.message}` : ''
  const text = `${message}${reason}${code === undefined ? '' : ` (${code})`}`
  return /alg/.test(text)
    ? `tokens must be signed with a key of the issuer, such as RS256 or ES256, never with none or HS256 (${text})`
    : text
}

/** Throws `NotSignedIn` for whatever the library throws. */
export const failed = (error: unknown): never => {
  if (error instanceof NotSignedIn) throw error
  if (isAway(error)) throw new NotSignedIn('away', `the issuer does not answer: ${textOf(error)}`, error)
  const { error: refusal, error_description: why } = error as { error?: unknown; error_description?: unknown }
  if (typeof refusal === 'string') {
    const isAsked = ['access_denied', 'login_required', 'interaction_required', 'consent_required'].includes(refusal)
    const text = `the issuer answered ${refusal}${typeof why === 'string' ? `: ${why.slice(0, 200)}` : ''}`
    throw new NotSignedIn(isAsked ? 'refused' : 'answer', text, error)
  }
  throw new NotSignedIn('answer', textOf(error), error)
}
