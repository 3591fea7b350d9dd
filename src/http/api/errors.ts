import type { Logger } from 'pino'
import { QuotaExceeded } from '../../cache/quotas.ts'
import { Refused, RevisionChanged } from '../../commands/decider.ts'
import { CheckpointMismatch, NoCanonicalForm, TreeDamaged } from '../../events/proof/receipt.ts'
import { ChangedByNewer } from '../../events/unknown.ts'
import {
  type WithField,
  problem,
  type Problem,
  type ProblemCode,
  sentenceOf,
  type Values,
} from '../../lib/problems/problem.ts'
import { Behind, failedPart, isUnavailable, NotReady } from '../../lib/unavailable.ts'
import { TakenOver } from '../../security/idempotency.ts'
import { TooManyPasswords } from '../../security/passwords.ts'

/** A response other than success: its status, what went wrong, its headers, and further fields of its body. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly status: number
  readonly problem: Problem
  readonly headers: Readonly<Record<string, string>>
  /** what the body has besides the problem */
  readonly details: object
  constructor(
    status: number,
    reason: Problem,
    headers: Readonly<Record<string, string>> = {},
    details: object = {},
    cause?: unknown,
  ) {
    super(sentenceOf(reason), { cause })
    this.status = status
    this.problem = reason
    this.headers = headers
    this.details = details
  }
}
/** Throws a `Failure`. */
export const fail = <C extends ProblemCode>(
  status: number,
  code: C,
  given: WithField<C>,
  headers?: Readonly<Record<string, string>>,
): never => {
  throw new Failure(status, problem(code, given), headers)
}

/** Throws a `Failure` about one field. */
export const failField = <C extends ProblemCode>(field: string, code: C, values: Values<C>): never => {
  throw new Failure(400, problem(code, { ...values, field }))
}

/** Fails unless people may sign in with passwords. */
export const requirePasswords = ({ passwordSignIn }: { readonly passwordSignIn: boolean }): void => {
  if (!passwordSignIn) fail(403, 'passwords_off', {})
}

/** Throws a `Failure` about one field, for a problem that was found without knowing the field. */
export const failAt = (field: string, reason: Problem): never => {
  throw new Failure(400, { ...reason, field })
}

/** What refusals other than 400 are answered with. */
const statuses: Readonly<Partial<Record<ProblemCode, number>>> = {
  not_found: 404,
  lacks_rights: 403,
  busy: 503,
  changed: 412,
  stale: 409,
}
const retry = { 'Retry-After': '2' }

/** What an answer says of a failure, in every form that it has. `field` is missing when the problem is about none. */
export const answerOf = ({ message, problem: { code, field, params } }: Failure) => ({
  error: 1 as const,
  message,
  code,
  ...(field !== undefined && { field }),
  params,
})

/** Returns the response to any thrown error. An error that the client cannot fix gets a constant text. */
export const failureOf = (error: unknown): Failure => {
  if (error instanceof Failure) return error
  if (error instanceof Refused) {
    const status = statuses[error.problem.code] ?? 400
    const more = error instanceof RevisionChanged ? { revision: error.revision } : {}
    return new Failure(status, error.problem, status === 503 ? retry : {}, more)
  }
  if (error instanceof QuotaExceeded) return new Failure(403, error.problem)
  if (error instanceof NotReady) return new Failure(503, problem('unavailable', { what: 'tables' }), retry)
  if (error instanceof Behind) return new Failure(503, problem('unavailable', { what: 'behind' }), retry)
  if (error instanceof TooManyPasswords) return new Failure(503, problem('busy', { what: 'passwords' }), retry)
  if (error instanceof TakenOver)
    return new Failure(409, problem('still_running', { what: 'request' }), { 'Retry-After': '1' })
  if (error instanceof ChangedByNewer)
    return new Failure(503, problem('changed_by_newer', { resource: error.resource }), retry)
  if (isUnavailable(error)) {
    const what = failedPart(error) === 'Linkledger' ? 'service' : 'database'
    return new Failure(503, problem('unavailable', { what }), retry)
  }
  if (error instanceof TreeDamaged) return new Failure(503, problem('tree_damaged'), { 'Retry-After': '60' })
  if (error instanceof CheckpointMismatch || error instanceof NoCanonicalForm)
    return new Failure(500, problem('log_damaged'))
  return new Failure(500, problem('internal_error'))
}

/** A client that has closed its connection, in the words of the stream or of the system. */
const gone = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE'])

/**
 * Returns what logs the errors of bodies that are being sent. Koa reports each of them twice, and also a client that
 * has closed its connection.
 */
export const logUnsent = (log: Logger) => {
  const logged = new WeakSet<object>()
  return (error: NodeJS.ErrnoException) => {
    if (gone.has(error.code ?? '') || logged.has(error)) return
    logged.add(error)
    log.error({ err: error }, 'an answer was not sent to its end')
  }
}
