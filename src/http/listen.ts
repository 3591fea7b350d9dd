import { createServer, type AddressInfo, type Server } from 'node:net'
import { OperatorError } from '../lib/operatorerror.ts'
import { withTimeout } from '../lib/timeout.ts'

/** ms to look up a HOST that is a name */
const patience = 1500

/** Resolves with the port on which the server listens. Throws an `OperatorError` that names the setting when it cannot. */
export const listenOn = (server: Server, port: number, host: string): Promise<number> => {
  const listening = new Promise<number>((resolve, reject) => {
    server.once('error', (error) => reject(problem(error, port, host)))
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })
  return withTimeout(patience, listening, () => problem({ code: 'EAI_AGAIN' }, port, host))
}

/** Checks HOST and PORT before the data is opened, which takes longer than the mistake is worth. Throws like `listenOn`. */
export const ensureListenable = async (port: number, host: string): Promise<void> => {
  const server = createServer()
  await listenOn(server, port, host)
  await new Promise((closed) => server.close(closed))
}

const problem = (error: { readonly code?: string; readonly message?: string }, port: number, host: string) =>
  new OperatorError(describe(error, port, host), { cause: error })

const describe = ({ code = '', message }: { code?: string; message?: string }, port: number, host: string): string => {
  const addresses = 'set it to 127.0.0.1 for this machine only, or 0.0.0.0 for all its addresses'
  switch (code) {
    case 'EADDRINUSE':
      return `PORT: ${port} is in use on ${host}: stop the program that uses it, or set another port`
    case 'EACCES':
      return `PORT: this user may not listen on ${port}: set a port from 1024 on, with a reverse proxy in front`
    case 'EADDRNOTAVAIL':
      return `HOST: ${host} is not an address of this machine: ${addresses}`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST: ${host} is not an IP address, and no such name can be found: ${addresses}`
    default:
      return `HOST and PORT: ${message ?? code}: ${addresses}`
  }
}
