import { Refused, type Refusal } from '../../commands/decider.ts'
import { isUnavailable } from '../../lib/unavailable.ts'
import { TablesNotReady } from '../../projections/tables.ts'

/** An answer that is not the asked one: what the client did wrong, or what is wrong here. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}
export const fail = (status: number, message: string, headers?: Readonly<Record<string, string>>): never => {
  throw new Failure(status, message, headers)
}

const refusals: Record<Refusal, number> = { not_found: 404, invalid: 400, taken: 400, busy: 503 }
const retry = { 'Retry-After': '2' }

/** What any thrown thing answers. Only what the client can mend is told; the rest is a constant text. */
export const failureOf = (error: unknown): Failure => {
  if (error instanceof Failure) return error
  if (error instanceof Refused) {
    const status = refusals[error.code]
    return new Failure(status, error.message, status === 503 ? retry : {})
  }
  if (error instanceof TablesNotReady)
    return new Failure(503, 'The read tables are being filled for the first time; try again shortly.', retry)
  if (isUnavailable(error))
    return new Failure(503, 'The service cannot reach its database just now; try again shortly.', retry)
  const { status, type } = error as { status?: unknown; type?: unknown }
  if (status === 413 || type === 'entity.too.large') return new Failure(413, 'The body is larger than 64 KiB.')
  return new Failure(500, 'Something went wrong here. Tell the operator the request id.')
}
