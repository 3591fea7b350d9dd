import { expect } from 'chai'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { problem } from '../../src/lib/problems/problem.ts'
import { createFrameProbe } from '../../src/app/jobs/frameprobe.ts'
import { type Guard, isInternal, openFetch, openProbe } from '../../src/lib/fetch.ts'
import { pngOf } from '../../src/qr/logo.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { query } from '../support/faults.ts'
import { skip } from '../support/skip.ts'
import { startStub, type Stub } from '../support/stub.ts'

/** Both ends of every forbidden range, and addresses in between. */
const inner: readonly (readonly string[])[] = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.0.0.1', '127.255.255.255'],
  ['168.63.129.16', '::ffff:168.63.129.16', '64:ff9b::168.63.129.16'],
  ['169.254.0.0', '169.254.169.254', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.31.196.0', '192.31.196.255', '192.52.193.0', '192.52.193.255', '192.175.48.0', '192.175.48.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '239.255.255.255'],
  ['240.0.0.0', '255.255.255.255'],
  ['::', '::1', '::ffff', '::7f00:1', '::127.0.0.1'],
  ['fc00::', 'fdff:ffff::1', 'fd00:ec2::254'],
  ['fe80::', 'fe80::1', 'febf:ffff::1', 'fe80::1%eth0', 'fec0::1'],
  ['ff00::', 'ff02::1', 'ffff:ffff::1'],
  ['2001:db8::', '2001:db8:ffff::1', '3fff::1'],
  ['100::', '100::1', '64:ff9b:1::1', '5f00::1'],
  ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.1.2.3', '::ffff:0:0', '::FFFF:A9FE:A9FE'],
  ['64:ff9b::127.0.0.1', '64:ff9b::a00:1', '64:ff9b::', '64:ff9b::1'],
  ['2002:7f00:1::', '2002:a00:1::1', '2002::'],
  ['2620:4f:8000::', '2620:4f:8000:ffff::1'],
  ['2001::', '2001:0:53aa:64c:0:0:80ff:fffe', '2001:20::1'],
]
const outer = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '168.63.129.17',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.3.0',
  '192.31.195.255',
  '192.31.197.0',
  '192.52.192.255',
  '192.52.194.0',
  '192.175.47.255',
  '192.175.49.0',
  '198.20.0.0',
  '223.255.255.255',
  '2606:4700::1111',
  '2620:4f:7fff::1',
  '2620:4f:8001::1',
  '2a00:1450:4001::1',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
]

describe('the guarded fetch', () => {
  const png = pngOf({ width: 2, height: 2, data: new Uint8Array(16).fill(255) })
  let answer: (req: IncomingMessage, res: ServerResponse) => unknown = (_, res) => res.end(png)
  /** `stub` plays a public server, `trap` an internal one. They share a port on two addresses. */
  let stub: Stub
  let trap: Stub
  let app: TestApp
  let key: string
  let scripted: () => readonly string[] = () => [there]
  const asked: string[] = []
  const here = '127.0.0.1'
  // every address of 127/8 is this machine on Linux; other systems have only 127.0.0.1
  const there = process.platform === 'linux' ? '127.0.0.2' : here

  /** Starts both servers on one port. Tries again when the port is free on one address and taken on the other. */
  const startPair = async (): Promise<[Stub, Stub]> => {
    const one = await startStub((req, res) => answer(req, res), there)
    const other = await startStub(undefined, here, there === here ? 0 : one.port).catch(() => undefined)
    if (other) return [one, other]
    await one.close()
    return startPair()
  }

  const guard = (): Guard => ({
    resolve: async (host) => {
      asked.push(host)
      return scripted()
    },
    denied: (address) => address !== there && isInternal(address),
    ports: [80, 443, stub.port],
  })

  before(async () => {
    ;[stub, trap] = await startPair()
    app = await startTestApp({}, undefined, { guardedFetch: (url) => openFetch(guard())(url) })
    key = (await app.register()).key
  })
  after(async () => {
    await app.close()
    await stub.close()
    await trap.close()
  })
  beforeEach(() => {
    answer = (_, res) => res.end(png)
    scripted = () => [there]
    asked.length = 0
  })
  afterEach(() => expect(trap.connections(), 'connections to the trap').to.equal(0))

  const add = (logo: unknown) => app.post('/api/qr/add', { key, body: { type: 'text', data: 'x', logo } })
  const refusal = async (logo: unknown) => {
    const before = await codes()
    const { status, json } = await add(logo)
    expect([status, json['error']], String(json['message'])).to.deep.equal([400, 1])
    expect(await codes(), 'codes made').to.equal(before)
    return String(json['message'])
  }
  const codes = async () =>
    Number(
      (await query<{ n: string }>(app.connection, `select count(*) as n from log.events where type = 'QrCreated'`))[0]
        ?.n,
    )
  const at = (path: string) => `http://pictures.example:${stub.port}${path}`

  it('fetches a picture from a public address with minimal headers', async () => {
    expect((await add(at('/logo.png?x=1'))).status).to.equal(200)
    const { method, url, headers } = stub.requests.at(-1)!
    expect([method, url]).to.deep.equal(['GET', '/logo.png?x=1'])
    expect(Object.keys(headers).toSorted()).to.deep.equal(['accept', 'connection', 'host', 'user-agent'])
    expect(headers.host).to.equal(`pictures.example:${stub.port}`)
  })

  it('recognises every non-public address range in any notation', () => {
    for (const address of inner.flat()) expect(isInternal(address), address).to.equal(true)
    for (const address of outer) expect(isInternal(address), address).to.equal(false)
    for (const nothing of ['', 'localhost', '1.2.3', '::g', '256.1.1.1'])
      expect(isInternal(nothing), nothing).to.equal(true)
  })

  it('connects to no non-public address, by IP or by name', async () => {
    const fetched = openFetch(guard())
    for (const address of inner.flat().filter((one) => !one.includes('%'))) {
      const host = address.includes(':') ? `[${address}]` : address
      for (const scheme of ['http', 'https'])
        expect(await fetched(`${scheme}://${host}/`), host).to.deep.equal({
          ok: false,
          problem: problem('wrong_address', { what: 'private' }),
        })
      scripted = () => [address]
      expect((await fetched('http://10.0.0.1.nip.io/')).ok, `a name for ${address}`).to.equal(false)
      // one bad address among good ones is enough
      scripted = () => [there, address]
      expect((await fetched(at('/'))).ok, `a name for ${address} too`).to.equal(false)
    }
    expect(stub.requests.filter(({ url }) => url === '/')).to.have.length(0)
  })

  it('asks no internal address whether it can be framed, also after a redirect', async () => {
    const probe = openProbe(guard())
    for (const host of [here, 'localhost', '[::1]', '169.254.169.254', '0x7f000001']) {
      scripted = () => (host === 'localhost' ? [here] : [there])
      expect(await probe(`http://${host}:${trap.port}/`), host).to.equal(undefined)
    }
    // a name that leads to us in public, and to an internal address after a redirect to itself
    answer = (_, res) => res.writeHead(302, { Location: at('/again') }).end()
    let looks = 0
    scripted = () => (looks++ === 0 ? [there] : [here])
    expect(await createFrameProbe({ probe })(at('/frame'), 'http://go.example')).to.equal('unknown')
    expect(looks).to.equal(2)
  })

  it('reads the headers of a framed page, and never its body', async () => {
    answer = (_, res) => {
      res.writeHead(200, { 'X-Frame-Options': 'DENY' })
      res.write('a body that never ends')
    }
    const probed = await openProbe(guard())(at('/endless'))
    expect([probed?.status, probed?.headers['x-frame-options']]).to.deep.equal([200, 'DENY'])
  })

  it('sends no request for a framed page once it is stopped', async () => {
    const stopping = new AbortController()
    scripted = () => {
      stopping.abort()
      return [there]
    }
    expect(await openProbe(guard())(at('/stopped'), stopping.signal)).to.equal(undefined)
    expect(stub.requests.filter(({ url }) => url === '/stopped')).to.have.length(0)
  })

  it('rejects unusual notations of internal addresses', async () => {
    for (const host of [
      '127.1',
      '0x7f000001',
      '0x7f.1',
      '2130706433',
      '017700000001',
      '0177.0.0.1',
      '127.0.0.1.',
      '[::ffff:127.0.0.1]',
      '[::1]',
      '①②⑦.0.0.1',
    ])
      expect(await refusal(`http://${host}:${trap.port}/`), host).to.match(/^`logo` must be /)
    scripted = () => ['127.0.0.1', '::1']
    for (const host of ['localhost', 'localhost.', 'LOCALHOST', '127.0.0.1.nip.io', 'metadata.google.internal'])
      expect(await refusal(`http://${host}:${stub.port}/`), host).to.match(
        /^`logo` must be at an address on the public internet/,
      )
  })

  it('connects to ports 80 and 443 only', async () => {
    const fetched = openFetch({ resolve: async () => [here], denied: () => false })
    for (const port of [22, 25, 6379, 8080, trap.port])
      expect(await fetched(`http://pictures.example:${port}/`)).to.deep.equal({
        ok: false,
        problem: problem('wrong_address', { what: 'port' }),
      })
  })

  it('connects to the address that was checked, and resolves the name once', async function () {
    if (there === here)
      skip(this, 'this machine has no second loopback address', 'run the tests on Linux, or add 127.0.0.2')
    let looks = 0
    scripted = () => (looks++ === 0 ? [there] : [here])
    const before = stub.requests.length
    expect((await add(at('/rebound.png'))).status).to.equal(200)
    expect([looks, stub.requests.length - before, asked]).to.deep.equal([1, 1, ['pictures.example']])
  })

  it('follows no redirects', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      answer = (_, res) => res.writeHead(status, { Location: `http://127.0.0.1:${trap.port}/` }).end(png)
      expect(await refusal(at('/moved.png'))).to.equal(
        '`logo` must not redirect: send the address that it redirects to.',
      )
    }
  })

  it('reads no files: a logo is a web address or a data URL', async () => {
    const paths = [
      '/etc/passwd',
      '../../x.png',
      'x.png',
      'logo/x.png',
      'file:///etc/passwd',
      'FILE:///etc/passwd',
      '\\\\host\\x.png',
      '//host/x.png',
      'C:\\x.png',
      'C:/x.png',
      'ftp://example.com/x.png',
      'blob:https://example.com/1',
      'data:text/html,<script>',
      'data:image/svg+xml;base64,PHN2Zz4=',
      'data:image/png,abc',
      'data:image/png;base64,',
      'gopher://example.com/',
      'javascript:1',
    ]
    for (const path of paths)
      expect(await refusal(path), path).to.match(/^`logo` must be an http or https address of a PNG or JPEG image/)
    for (const address of [
      'http://',
      'http:///x.png',
      'http://user:pw@example.com/x.png',
      'http://exa mple.com/x.png',
      'http://example.com\\@127.0.0.1/',
    ])
      expect(await refusal(address), address).to.match(/^`logo` /)
    expect(asked).to.deep.equal([])
  })

  // begins with the test before it, so that both wait at the same time
  let unresolved: ReturnType<ReturnType<typeof openFetch>> | undefined
  const askSilentDns = () =>
    (unresolved ??= openFetch({ resolve: () => new Promise(() => {}) })('http://pictures.example/'))

  it('ends after five seconds, for any behaviour of the server', async () => {
    void askSilentDns()
    const slow: Record<string, typeof answer> = {
      'one byte a second': (_, res) => {
        res.write(png.subarray(0, 1))
        let sent = 1
        const drip = setInterval(() => res.write(png.subarray(sent, ++sent)), 1000)
        res.on('close', () => clearInterval(drip))
      },
      'no answer': () => {},
      'headers without end': (_, res) => {
        const drip = setInterval(() => res.socket?.write('X-A: b\r\n'), 100)
        res.socket?.write('HTTP/1.1 200 OK\r\n')
        res.on('close', () => clearInterval(drip))
      },
    }
    const began = Date.now()
    const all = await Promise.all(
      Object.keys(slow).map(async (what) => {
        const server = await startStub(slow[what], there)
        const fetched = openFetch({ ...guard(), ports: [server.port] })
        const result = await fetched(`http://pictures.example:${server.port}/`)
        await server.close()
        return [what, result] as const
      }),
    )
    const took = Date.now() - began
    for (const [what, result] of all)
      expect(result, what).to.deep.equal({
        ok: false,
        problem: problem('not_fetched', { what: 'timeout' }),
      })
    expect(took).to.be.within(4900, 20_000)
  })

  it('ends after five seconds when DNS does not respond', async () => {
    expect(await askSilentDns()).to.deep.equal({
      ok: false,
      problem: problem('not_fetched', { what: 'timeout' }),
    })
  })

  it('reads at most 512 KiB', async () => {
    const body =
      (bytes: number): typeof answer =>
      (_, res) =>
        res.end(Buffer.alloc(bytes))
    const fetched = openFetch(guard())
    answer = body(512 * 1024)
    const full = await fetched(at('/full'))
    expect(full.ok && full.body.length).to.equal(512 * 1024)
    answer = body(512 * 1024 + 1)
    expect(await refusal(at('/large.png'))).to.equal('`logo` must be at most 512 KiB large.')
    let sent = 0
    answer = (_, res) => {
      const more = () => {
        while (!res.destroyed && res.write(Buffer.alloc(64 * 1024))) sent += 64 * 1024
      }
      res.on('drain', more)
      more()
    }
    expect(await refusal(at('/endless.png'))).to.equal('`logo` must be at most 512 KiB large.')
    expect(sent).to.be.below(64 * 1024 * 1024)
  })

  it('reports the failure without revealing the response', async () => {
    answer = (_, res) => res.writeHead(404).end('secret of the server')
    expect(await refusal(at('/gone.png'))).to.equal(
      '`logo` could not be fetched: its server responded with status 404.',
    )
    answer = (_, res) => res.end('secret of the server')
    expect(await refusal(at('/text.png'))).to.equal('`logo` must be a PNG or JPEG image.')
    answer = (req) => req.socket.destroy()
    expect(await refusal(at('/cut.png'))).to.equal('`logo` could not be fetched: its server could not be reached.')
    scripted = () => {
      throw new Error('ENOTFOUND')
    }
    expect(await refusal(at('/nowhere.png'))).to.equal('`logo` could not be fetched: its server could not be reached.')
    scripted = () => []
    expect(await refusal(at('/nowhere.png'))).to.equal('`logo` must be at an address on the public internet.')
  })

  it('uses the address list, ports 80 and 443, and DNS in production', async () => {
    const fetched = openFetch()
    expect((await fetched('http://localhost/')).ok).to.equal(false)
    expect((await fetched(`http://localhost:${trap.port}/`)).ok).to.equal(false)
    expect((await fetched('http://127.0.0.1/')).ok).to.equal(false)
    expect((await fetched('ftp://example.com/')).ok).to.equal(false)
    expect((await fetched('http://ann:pw@example.com/')).ok).to.equal(false)
  })
})
