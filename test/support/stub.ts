import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Starts a server on this machine in place of one on the internet, or of one that must not be reached. */
export const startStub = async (
  answer: (req: IncomingMessage, res: ServerResponse) => unknown = (_, res) => res.end(),
  host = '127.0.0.1',
  onPort = 0,
) => {
  const requests: IncomingMessage[] = []
  let connections = 0
  const server = createServer((req, res) => {
    requests.push(req)
    answer(req, res)
  })
  server.on('connection', () => connections++)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(onPort, host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    connections: () => connections,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
export type Stub = Awaited<ReturnType<typeof startStub>>
