/**
 * A store could not be reached or did not answer in time. Nothing is wrong with the request: the same one may succeed
 * later.
 */
export class Unavailable extends Error {
  override readonly name: string = 'Unavailable'
  readonly part: Part = 'Linkledger'
}

/** What can fail: an engine, the event log on any engine, or the service itself, which is busy or not ready. */
export type Part = 'PostgreSQL' | 'log' | 'Kafka' | 'Linkledger'

/** The read tables that a request needs are being built for the first time. */
export class NotReady extends Unavailable {
  override readonly name = 'NotReady'
}

/** The read tables do not have the events of a request yet. */
export class Behind extends Unavailable {
  override readonly name = 'Behind'
}

/**
 * Whether an error means that PostgreSQL, or the network on the way to it, failed: refused or lost connections, a
 * shutdown, a timeout, an exhausted pool. Covers what pg and knex throw (SQLSTATE classes 08, 53, 55, 57; 25006 is a
 * read-only standby).
 */
export const isUnavailable = (error: unknown): boolean => error instanceof Unavailable || isPostgresAway(error)

const isPostgresAway = (error: unknown): boolean => {
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

/** System calls of a connection. The files of a spool and look-ups of DNS records fail with the same codes. */
const connecting = /^(connect|getaddrinfo|read|write)$/

const isOfConnection = (error: unknown): boolean => {
  const { code, syscall } = error as { code?: string; syscall?: string }
  return !/^E[A-Z]/.test(code ?? '') || syscall === undefined || connecting.test(syscall)
}

/** Returns the part that an outage affects; undefined when an error is no sign of an outage. */
export const failedPart = (error: unknown): Part | undefined => {
  if (error instanceof Unavailable) return error.part
  if (!(error instanceof Error)) return undefined
  if (error.name.startsWith('KafkaJS')) return 'Kafka'
  return isPostgresAway(error) && isOfConnection(error) ? 'PostgreSQL' : undefined
}

/**
 * Returns the reason of a failure for an operator. Errors of the PostgreSQL drivers without a code are about the
 * driver, such as its pool, so a plain sentence replaces them.
 */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if ('code' in error || error instanceof Unavailable || failedPart(error) !== 'PostgreSQL') return error.message
  return error.name === 'KnexTimeoutError'
    ? 'no connection to PostgreSQL could be had in time'
    : 'PostgreSQL did not answer in time, or ended the connection'
}

/** Whether PostgreSQL has cancelled a statement because it took too long. */
export const isCancelled = (error: unknown): boolean => (error as { readonly code?: string }).code === '57014'
