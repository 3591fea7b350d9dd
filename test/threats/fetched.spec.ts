import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import { expect } from 'chai'
import { type Fetched, openDownload, openFetch, openProbe } from '../../src/lib/fetch.ts'
import { openPost } from '../../src/lib/post.ts'
import { problem } from '../../src/lib/problems/problem.ts'
import { Unavailable } from '../../src/lib/unavailable.ts'
import { createCa, createCertificate } from '../engines/certificates.ts'
import { until } from '../support/client.ts'

const ok = 'HTTP/1.1 200 OK\r\n'
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`
const interim = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'
const unreachable = { ok: false, problem: problem('not_fetched', { what: 'unreachable' }) }

/** Sends a block again and again after the head, for as long as the client takes it. */
const endlessly = (socket: Socket, head: string, block: string) => {
  socket.write(head)
  const more = () => void (socket.write(block) ? setImmediate(more) : socket.once('drain', more))
  if (!socket.destroyed) more()
}

describe('the responses of untrusted servers', () => {
  let answer: (socket: Socket) => unknown = () => {}
  const sockets: Socket[] = []
  const serve = (socket: Socket) => {
    sockets.push(socket)
    // what is sent to a client that has gone fails
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
  }
  let server: Server
  let dir: string
  const listening = async (one: Server) => {
    one.listen(0, '127.0.0.1')
    await once(one, 'listening')
    return one
  }
  const portOf = (one: Server) => (one.address() as AddressInfo).port
  before(async () => {
    server = await listening(createServer(serve))
    dir = await mkdtemp(join(tmpdir(), 'fetched-'))
  })
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
  })
  after(async () => {
    server.close()
    await rm(dir, { recursive: true })
  })

  const guard = (one = server) => ({ resolve: async () => ['127.0.0.1'], denied: () => false, ports: [portOf(one)] })
  const address = () => `http://pictures.example:${portOf(server)}/`
  const get = (): Promise<Fetched> => openFetch(guard())(address())
  const post = () => openPost(guard()).send({ url: address(), headers: {}, body: '{}' })

  it('is refused when it comes in chunks of a byte', async () => {
    answer = (socket) => endlessly(socket, chunked, '1\r\na\r\n'.repeat(10_000))
    expect(await get()).to.deep.equal(unreachable)
    expect(await openDownload(guard())(address(), {})).to.deep.equal(unreachable)
  })

  it('is read in chunks of any usual size', async () => {
    answer = (socket) => socket.end(`${chunked}${`40\r\n${'a'.repeat(64)}\r\n`.repeat(8192)}0\r\n\r\n`)
    const fetched = await get()
    expect(fetched.ok && fetched.body.length).to.equal(512 * 1024)
  })

  it('is refused when it has more than its body needs', async () => {
    answer = (socket) => socket.end(`${chunked}${`1;${'x'.repeat(10_000)}\r\na\r\n`.repeat(900)}0\r\n\r\n`)
    expect(await get()).to.deep.equal(unreachable)
  })

  it('is refused when interim answers go on, also when an answer follows them', async () => {
    answer = (socket) => endlessly(socket, '', interim.repeat(1500))
    expect(await get()).to.deep.equal(unreachable)
    expect(await openProbe(guard())(address())).to.equal(undefined)
    answer = (socket) => socket.end(`${interim.repeat(1500)}${ok}Content-Length: 2\r\n\r\nok`)
    expect(await post()).to.deep.equal({ status: undefined, problem: 'the server could not be reached' })
    answer = (socket) => socket.end(`${interim.repeat(3)}${ok}Content-Length: 2\r\n\r\nok`)
    expect(await post()).to.deep.equal({ status: 200, excerpt: 'ok', retryAfter: undefined })
  })

  it('is read in turns of the event loop', async () => {
    let [turns, reading] = [0, true]
    const count = () => {
      turns++
      if (reading) setImmediate(count)
    }
    answer = (socket) => socket.end(`${ok}Content-Length: 524288\r\n\r\n${'a'.repeat(512 * 1024)}`)
    setImmediate(count)
    const fetched = await get()
    reading = false
    expect(fetched.ok && fetched.body.length).to.equal(512 * 1024)
    // 16 KiB in a turn
    expect(turns).to.be.at.least(32)
  })

  it('is fetched for a few at a time, by turns of accounts', async () => {
    const asked: string[] = []
    const release: (() => void)[] = []
    const fetched = openFetch({
      resolve: async (host) => {
        asked.push(host)
        await new Promise<void>((resolve) => release.push(resolve))
        throw new Error('no such name')
      },
    })
    const of = (account: number, network: string) => fetched(`http://a${account}.example/`, { account, network })
    const first = Array.from({ length: 13 }, () => of(1, 'n1'))
    expect(await of(1, 'n1').catch((error: unknown) => error)).to.be.instanceOf(Unavailable)
    const others = [2, 3, 4, 5].flatMap((account) => [of(account, 'n1'), of(account, 'n1')])
    const elsewhere = of(6, 'n2')
    await until(
      async () => asked.length,
      (n) => n === 9,
    )
    // four of twelve places are for networks that have none
    expect(asked.filter((host) => host === 'a1.example')).to.have.length(3)
    expect(asked.at(-1)).to.equal('a6.example')
    const all = [...first, ...others, elsewhere]
    const end = setInterval(() => release.splice(0).forEach((one) => one()), 1)
    for (const one of await Promise.all(all)) expect(one).to.deep.equal(unreachable)
    clearInterval(end)
  })

  it('is read and refused over TLS in the same way, from the host of the certificate', async () => {
    const ca = await createCa(dir, 'ca')
    const { cert, key } = await createCertificate(dir, 'server', ca, 'DNS:pictures.example')
    const pem = async (file: string) => readFile(file, 'utf8')
    const secure = await listening(tls.createServer({ cert: await pem(cert), key: await pem(key) }, serve))
    const at = (host: string) => `https://${host}:${portOf(secure)}/`
    const fetched = openFetch({ ...guard(secure), ca: await pem(ca.cert) })
    answer = (socket) => socket.end(`${ok}Content-Length: 524288\r\n\r\n${'a'.repeat(512 * 1024)}`)
    const file = await fetched(at('pictures.example'))
    expect(file.ok && file.body.length).to.equal(512 * 1024)
    expect(await fetched(at('others.example'))).to.deep.equal(unreachable)
    expect(await openFetch(guard(secure))(at('pictures.example'))).to.deep.equal(unreachable)
    for (const block of ['1\r\na\r\n', interim]) {
      answer = (socket) => endlessly(socket, block === interim ? '' : chunked, block.repeat(10_000))
      expect(await fetched(at('pictures.example'))).to.deep.equal(unreachable)
    }
    secure.close()
  })
})
