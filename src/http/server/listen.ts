import { createServer, type AddressInfo, type Server } from 'node:net'
import { OperatorError } from '../../lib/operatorerror.ts'
import { withTimeout } from '../../lib/async/timeout.ts'

/** ms to look up a HOST that is a name */
const timeoutMs = 1500

/** The names of the settings that say where to listen. */
interface Names {
  readonly port: string
  readonly host: string
}
const publicNames: Names = { port: 'PORT', host: 'HOST' }

/**
 * Resolves with the port on which the server listens. Throws an `OperatorError` that names the setting when it cannot.
 */
export const listenOn = (server: Server, port: number, host: string, names = publicNames): Promise<number> => {
  const problem = (error: Problem) => new OperatorError(describe(error, port, host, names), { cause: error })
  const listening = new Promise<number>((resolve, reject) => {
    server.once('error', (error) => reject(problem(error)))
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })
  return withTimeout(timeoutMs, listening, () => problem({ code: 'EAI_AGAIN' }))
}

/**
 * Checks where to listen before the data is opened, which takes longer than the mistake is worth. Throws like
 * `listenOn`.
 */
export const ensureListenable = async (port: number, host: string, names = publicNames): Promise<void> => {
  const server = createServer()
  await listenOn(server, port, host, names)
  await new Promise((closed) => server.close(closed))
}

interface Problem {
  readonly code?: string
  readonly message?: string
}

const describe = ({ code = '', message }: Problem, port: number, host: string, names: Names): string => {
  const addresses = 'set it to 127.0.0.1 for this machine only, or 0.0.0.0 for all its addresses'
  switch (code) {
    case 'EADDRINUSE':
      return `${names.port}: ${port} is in use on ${host}: stop the program that uses it, or set another port`
    case 'EACCES':
      return `${names.port}: this user may not listen on ${port}: set a port from 1024 on, with a reverse proxy in front`
    case 'EADDRNOTAVAIL':
      return `${names.host}: ${host} is not an address of this machine: ${addresses}`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${names.host}: ${host} is not an IP address, and no such name can be found: ${addresses}`
    default:
      return `${names.host} and ${names.port}: ${message ?? code}: ${addresses}`
  }
}
