/**
 * A store could not be reached or did not answer in time. Nothing is wrong with the request: the same one may succeed
 * later.
 */
export class Unavailable extends Error {
  override readonly name: string = 'Unavailable'
}

/** The read tables that a request needs are being built for the first time. */
export class NotReady extends Unavailable {
  override readonly name = 'NotReady'
}

/**
 * Whether an error means that PostgreSQL, or the network on the way to it, failed: refused or lost connections, a
 * shutdown, a timeout, an exhausted pool. Covers what pg and knex throw (SQLSTATE classes 08, 53, 55, 57; 25006 is a
 * read-only standby).
 */
export const isUnavailable = (error: unknown): boolean => {
  if (error instanceof Unavailable) return true
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
