import { QuotaExceeded } from '../../cache/quotas.ts'
import { Refused, type Refusal, RevisionChanged } from '../../commands/decider.ts'
import { CheckpointMismatch } from '../../events/proof/receipt.ts'
import { ChangedByNewer } from '../../events/unknown.ts'
import { fieldProblem } from '../../lib/fields.ts'
import { isUnavailable, NotReady } from '../../lib/unavailable.ts'
import { TooManyPasswords } from '../../security/passwords.ts'

/** A response other than success: its status, message and headers, and further fields of its body. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** what the body has besides `error` and `message` */
  readonly details: object
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}, details: object = {}) {
    super(message)
    this.status = status
    this.headers = headers
    this.details = details
  }
}
/** Throws a `Failure`. */
export const fail = (status: number, message: string, headers?: Readonly<Record<string, string>>): never => {
  throw new Failure(status, message, headers)
}

/** Throws a `Failure` about one field: "`url` is required." */
export const failField = (field: string, problem: string): never => fail(400, fieldProblem(field, problem))

const refusals: Record<Refusal, number> = {
  not_found: 404,
  invalid: 400,
  forbidden: 403,
  taken: 400,
  busy: 503,
  changed: 412,
}
const retry = { 'Retry-After': '2' }

/** Returns the response to any thrown error. An error that the client cannot fix gets a constant text. */
export const failureOf = (error: unknown): Failure => {
  if (error instanceof Failure) return error
  if (error instanceof Refused) {
    const status = refusals[error.code]
    const more = error instanceof RevisionChanged ? { revision: error.revision } : {}
    return new Failure(status, error.message, status === 503 ? retry : {}, more)
  }
  if (error instanceof QuotaExceeded) return new Failure(403, error.message)
  if (error instanceof NotReady)
    return new Failure(503, 'The read tables are being built for the first time. Try again shortly.', retry)
  if (error instanceof TooManyPasswords)
    return new Failure(503, 'Too many passwords are being processed right now. Try again shortly.', retry)
  if (error instanceof ChangedByNewer)
    return new Failure(503, `${error.message} This process cannot change it. Try again shortly.`, retry)
  if (isUnavailable(error))
    return new Failure(503, 'The service cannot reach its database right now. Try again shortly.', retry)
  if (error instanceof CheckpointMismatch)
    return new Failure(
      500,
      'The log is not as it was when it was signed, so there is no receipt. Ask the operator to run `linkledger verify`, which names what has changed.',
    )
  return new Failure(500, 'An unexpected error occurred. Please report the request id to the operator of this service.')
}
