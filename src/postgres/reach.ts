import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { OperatorError } from '../lib/operatorerror.ts'
import { withTimeout } from '../lib/async/timeout.ts'

/** ms within which the kernel of the server, not PostgreSQL, must accept a connection */
const timeoutMs = 1500

/**
 * Checks that a PostgreSQL answers at an address. Without it, a wrong address looks like a server that is down for a
 * moment. Throws an `OperatorError` that names `setting`, where the address comes from.
 */
export const ensureReachable = async (connectionString: string, setting: string): Promise<void> => {
  const { host, port } = partsOf(connectionString, setting)
  const place = host.startsWith('/') ? join(host, `.s.PGSQL.${port}`) : `${host}:${port}`
  const socket = host.startsWith('/') ? connect(place) : connect({ host, port })
  try {
    const connected = once(socket, 'connect')
    await withTimeout(timeoutMs, connected, () => Object.assign(new Error('no answer'), { code: 'no answer' }))
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const cure = code === 'ENOTFOUND' || code === 'EAI_AGAIN' ? 'correct the host' : 'start it, or correct the address'
    throw new OperatorError(`${setting}: no PostgreSQL can be reached at ${place} (${code}): ${cure}`, { cause })
  } finally {
    socket.destroy()
  }
}

/**
 * Returns an error of the first statements as one that names the setting, when the address has a wrong user, password
 * or database.
 */
export const loginProblem = (error: unknown, connectionString: string, setting: string): unknown => {
  const { code = '', message = '' } = error as { code?: string; message?: string }
  const cure = cures[code]
  if (cure === undefined) return error
  const { user, database } = partsOf(connectionString, setting)
  return new OperatorError(`${setting}: ${message}: ${cure(user, database)}`, { cause: error })
}

type Cure = (user: string, database: string) => string
const cures: Readonly<Record<string, Cure>> = {
  '28P01': (user) => `correct the password of ${user}`,
  '28000': (user) => `correct the user, or let ${user} connect in pg_hba.conf`,
  '3D000': (_, database) => `create it with createdb ${database}, or correct the name`,
  '42501': (user, database) => `run grant create, connect on database "${database}" to "${user}"`,
}

export const partsOf = (connectionString: string, setting: string) => {
  try {
    const { host, port, user = '', database = '' } = new pg.Client({ connectionString })
    return { host, port, user, database }
  } catch (cause) {
    const { path } = cause as NodeJS.ErrnoException
    if (path !== undefined) throw new OperatorError(`${setting}: its file ${path} cannot be read`, { cause })
    throw new OperatorError(`${setting} must be an address like postgres://user:password@host:5432/database`, { cause })
  }
}
