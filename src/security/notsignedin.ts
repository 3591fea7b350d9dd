/** Why signing in failed, by the names of the page's texts. */
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

/** Signing in failed. The message is for the operator, and contains no personal data. */
export class NotSignedIn extends Error {
  override readonly name = 'NotSignedIn'
  readonly why: Hindrance
  constructor(why: Hindrance, message: string, cause?: unknown) {
    super(message, { cause })
    this.why = why
  }
}

/** Whether an error means that the issuer does not respond, or cannot. */
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

/** Returns the messages of an error and its causes, without tokens that causes may contain. */
const textOf = (error: unknown): string => {
  const { message = '', code, cause } = error as { message?: string; code?: string; cause?: unknown }
  const reason = cause instanceof Error && cause.message !== message ? `: ${cause.message}` : ''
  const text = `${message}${reason}${code === undefined ? '' : ` (${code})`}`
  return /alg/.test(text)
    ? `tokens must be signed with a key of the issuer, such as RS256 or ES256, never with none or HS256 (${text})`
    : text
}

/** Throws `NotSignedIn` for any error of the library. */
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
