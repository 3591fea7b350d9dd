import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { expect } from 'chai'
import { openApiClient } from '../../src/cli/apiclient.ts'
import { listenOn } from '../../src/http/server/listen.ts'

describe('a file that a command sends', () => {
  it('is the same request each time while the service is away, or still works on it', async () => {
    const keys: unknown[] = []
    const statuses = [503, 408, 409, 200]
    const server = createServer((req: IncomingMessage, res: ServerResponse) => {
      keys.push(req.headers['idempotency-key'])
      req.resume().once('end', () => {
        res.writeHead(statuses.shift()!, { 'Content-Type': 'application/json', 'Retry-After': '0.01' })
        res.end(JSON.stringify({ error: 0, id: 'x' }))
      })
    })
    const address = `http://127.0.0.1:${await listenOn(server, 0, '127.0.0.1')}`
    try {
      const { send } = openApiClient(address, 'key')
      const file = async function* () {
        yield 'url\n'
      }
      expect(await send('/api/import', file)).to.deep.equal({ error: 0, id: 'x' })
      expect(statuses).to.deep.equal([])
      expect(keys[0]).to.match(/^[\da-f-]{36}$/)
      expect(new Set(keys).size).to.equal(1)
      statuses.push(409, 200)
      expect(await send('/api/import', file).catch((error: Error) => error.message)).to.contain('answered 409')
      expect(keys.at(-1), 'another file').not.to.equal(keys[0])
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
})
