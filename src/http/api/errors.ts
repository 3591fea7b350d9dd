import { Refused, type Refusal } from '../../commands/decider.ts'
import { StoreUnavailable } from '../../events/store.ts'
import { TablesNotReady } from '../../projections/tables.ts'

/** An answer that is not the asked one: what the client did wrong, or what is wrong here. */
export class Failure extends Error {
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

/** A fault of PostgreSQL or of the way to it, as pg and knex report it: connection failures, shut down, time-outs, an exhausted pool. */
export const isOutage = (error: unknown): boolean => {
  if (error instanceof StoreUnavailable || error instanceof TablesNotReady) return true
  const { code = '', name = '', message = '' } = error as { code?: string; name?: string; message?: string }
  return (
    /^(ECONN|EPIPE|ENOENT|ETIMEDOUT|EHOSTUNREACH|EAI_AGAIN|ENOTFOUND)/.test(code) ||
    /^(08|53|55|57|25006)/.test(code) ||
    name === 'KnexTimeoutError' ||
    /Connection terminated|^timeout expired$|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout/.test(
      message,
    )
  )
}

/** What any thrown thing answers. Only what the client can mend is told; the rest is a constant text. */
export const failureOf = (error: unknown): Failure => {
  if (error instanceof Failure) return error
  if (error instanceof Refused) {
    const status = refusals[error.code]
    return new Failure(status, error.message, status === 503 ? retry : {})
  }
  if (error instanceof TablesNotReady)
    return new Failure(503, 'The read tables are being filled for the first time; try again shortly.', retry)
  if (isOutage(error))
    return new Failure(503, 'The service cannot reach its database just now; try again shortly.', retry)
  const { status, type } = error as { status?: unknown; type?: unknown }
  if (status === 413 || type === 'entity.too.large') return new Failure(413, 'The body is larger than 64 KiB.')
  return new Failure(500, 'Something went wrong here. Tell the operator the request id.')
}

/** Rejects as an outage when there is no answer in time; what comes later is nobody's. */
export const inTime = async <T>(answer: Promise<T>, ms: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StoreUnavailable(`no answer within ${ms} ms`)), ms)
  })
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}
