import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { expect } from 'chai'
import { openApiClient } from '../../src/cli/apiclient.ts'
import { OperatorError } from '../../src/lib/operatorerror.ts'
import { listenOn } from '../../src/http/server/listen.ts'

/** Returns the address of a server that answers every request with a text, and counts them. */
const startAnswering = async (text: string) => {
  const asked = { times: 0 }
  const server = createServer((req, res) => {
    asked.times++
    req.resume().once('end', () => res.end(text))
  })
  const address = `http://127.0.0.1:${await listenOn(server, 0, '127.0.0.1')}`
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { address, asked, close }
}

describe('a file that a command sends', () => {
  it('ends the command at once with its own problem when it cannot be read, and is not sent again', async () => {
    const { address, asked, close } = await startAnswering('{}')
    const problem = new Error('the source answered 401')
    let reads = 0
    const unreadable = async function* () {
      reads++
      yield 'url\n'
      throw problem
    }
    try {
      const { send } = openApiClient(address, 'key')
      expect(await send('/api/import', unreadable).catch((error: unknown) => error)).to.equal(problem)
      expect([reads, asked.times <= 1]).to.deep.equal([1, true])
    } finally {
      close()
    }
  })

  it('is sent again when the connection ends while it is sent', async () => {
    let times = 0
    const server = createServer((req, res) => {
      if (++times === 1) req.once('data', () => req.socket.destroy())
      else req.resume().once('end', () => res.end('{"id":"x"}'))
    })
    const address = `http://127.0.0.1:${await listenOn(server, 0, '127.0.0.1')}`
    const large = async function* () {
      for (let n = 0; n < 200; n++) yield Buffer.alloc(64 * 1024)
    }
    try {
      expect(await openApiClient(address, 'key').send('/api/import', large)).to.deep.equal({ id: 'x' })
      expect(times).to.equal(2)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  it('is not for a service that answers with no object: the command says so', async () => {
    for (const text of ['null', '5', 'x', '']) {
      const { address, close } = await startAnswering(text)
      const { ask, send } = openApiClient(address, 'key')
      const file = async function* () {
        yield 'url\n'
      }
      for (const answer of [ask('GET', '/api/import/1'), send('/api/import', file)]) {
        const error: unknown = await answer.catch((cause: unknown) => cause)
        expect(error, text).to.be.instanceOf(OperatorError)
        expect((error as Error).message).to.include('does not answer as this service does')
      }
      close()
    }
  })

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
