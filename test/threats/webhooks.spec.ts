import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect } from 'chai'
import { problem } from '../../src/lib/problems/problem.ts'
import { openPost, type Posted } from '../../src/lib/post.ts'
import { startStub, type Stub } from '../support/stub.ts'

describe('the guarded post', () => {
  let answer: (req: IncomingMessage, res: ServerResponse) => unknown = (_, res) => res.end()
  let stub: Stub
  let addresses: string[] = []
  let asked = 0
  before(async () => (stub = await startStub((req, res) => answer(req, res))))
  after(() => stub.close())
  beforeEach(() => {
    answer = (_, res) => res.end()
    addresses = ['127.0.0.1']
    asked = 0
  })

  const post = (url: string, ms = 5000): Promise<Posted> =>
    openPost(
      {
        resolve: async () => {
          asked++
          return addresses
        },
        denied: (address) => address !== '127.0.0.1',
        ports: [stub.port],
      },
      ms,
    ).send({ url, headers: { 'webhook-id': 'evt_1' }, body: '{"ä":1}' })
  const here = () => `http://hooks.example:${stub.port}/`

  it('sends JSON to a public address, and keeps the beginning of a printable answer', async () => {
    let body = ''
    answer = (req, res) => {
      req.on('data', (chunk: Buffer) => (body += chunk.toString()))
      req.on('end', () => res.writeHead(202, { 'Retry-After': '7' }).end(`\u001b[31m${'x'.repeat(5000)}`))
    }
    expect(await post(here())).to.deep.equal({ status: 202, excerpt: `[31m${'x'.repeat(196)}`, retryAfter: 7 })
    const { method, headers } = stub.requests.at(-1)!
    expect([method, headers['content-type'], headers['content-length'], headers['webhook-id'], body]).to.deep.equal([
      'POST',
      'application/json',
      '8',
      'evt_1',
      '{"ä":1}',
    ])
  })

  it('connects to no internal address, also when DNS names one at the second attempt only', async () => {
    const { send, problemOf } = openPost()
    for (const host of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '[::1]', '[::ffff:127.0.0.1]', '0x7f000001']) {
      expect(problemOf(`http://${host}/`), host).to.deep.equal(problem('wrong_address', { what: 'private' }))
      const posted = await send({ url: `http://${host}/`, headers: {}, body: '' })
      expect(posted, host).to.deep.equal({
        status: undefined,
        problem: '`url` must be at an address on the public internet',
      })
    }
    expect(problemOf('https://example.com:8443/')).to.deep.equal(problem('wrong_address', { what: 'port' }))
    expect(problemOf('https://example.com/')).to.equal(undefined)
    expect(await post(here())).to.include({ status: 200 })
    const before = stub.connections()
    for (const second of [['10.0.0.1'], ['127.0.0.1', '10.0.0.1'], []]) {
      addresses = second
      expect(await post(here())).to.include({ status: undefined })
    }
    expect([stub.connections() - before, asked]).to.deep.equal([0, 4])
  })

  it('follows no redirect', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      answer = (_, res) => res.writeHead(status, { Location: here() }).end()
      const before = stub.requests.length
      expect(await post(here())).to.include({ status })
      expect(stub.requests.length - before).to.equal(1)
    }
  })

  it('waits for the status of an answer, and not for its end', async () => {
    answer = () => {}
    expect(await post(here(), 100)).to.deep.equal({ status: undefined, problem: 'no answer within 20 seconds' })
    let sent = 0
    answer = (_, res) => {
      const more = () => {
        while (!res.destroyed && res.write('y'.repeat(64 * 1024))) sent += 64 * 1024
      }
      res.on('drain', more)
      more()
    }
    expect(await post(here())).to.deep.equal({ status: 200, excerpt: 'y'.repeat(200), retryAfter: undefined })
    expect(sent).to.be.below(64 * 1024 * 1024)
    answer = (_, res) => {
      res.writeHead(204)
      res.flushHeaders()
    }
    expect(await post(here())).to.include({ status: 204 })
  })
})
