import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import {
  closeServer,
  createHttpServer,
  nothingHere,
  onForwarded,
  onOtherHost,
  serve,
} from '../../../src/http/server/server.ts'
import { listenOn } from '../../../src/http/server/listen.ts'
import { OperatorError } from '../../../src/lib/operatorerror.ts'
import { client, until } from '../../support/client.ts'

describe('a port that is in use', () => {
  it('is reported as an error that an operator can correct', async () => {
    const first = createHttpServer()
    const port = await listenOn(first, 0, '127.0.0.1')
    const error: unknown = await listenOn(createHttpServer(), port, '127.0.0.1').catch((reason: unknown) => reason)
    await closeServer(first, 0)
    expect(error).to.be.instanceOf(OperatorError)
    expect(error)
      .to.have.property('message')
      .that.matches(/^PORT: \d+ is in use on 127\.0\.0\.1: /)
  })
})

describe('a service that trusts no proxy', () => {
  it('reports the first X-Forwarded-For, and no other', async () => {
    const server = createHttpServer().on('request', (_, res: ServerResponse) => res.end())
    let reports = 0
    onForwarded(server, () => reports++)
    const { get } = client(`http://127.0.0.1:${await listenOn(server, 0, '127.0.0.1')}`)
    await get('/')
    expect(reports).to.equal(0)
    for (let i = 0; i < 3; i++) await get('/', { headers: { 'X-Forwarded-For': '8.8.8.8' } })
    expect(reports).to.equal(1)
    await closeServer(server, 0)
  })
})

describe('a service without BASE_URL', () => {
  it('reports the first host that is not its own, and no other', async () => {
    const server = createHttpServer().on('request', (_, res: ServerResponse) => res.end())
    const reported: string[] = []
    const port = await listenOn(server, 0, '127.0.0.1')
    onOtherHost(
      server,
      (host) => host === `127.0.0.1:${port}`,
      (host) => reported.push(host),
    )
    const { get } = client(`http://127.0.0.1:${port}`)
    await get('/')
    expect(reported).to.deep.equal([])
    for (const host of ['go.example', 'other.example']) await get('/', { headers: { Host: host } })
    expect(reported).to.deep.equal(['go.example'])
    await closeServer(server, 0)
  })
})

describe('a request with two Host headers', () => {
  it('is refused, also when both are the same, and ends its connection', async () => {
    const server = createHttpServer()
    const answer = (_: unknown, res: ServerResponse) => void res.end('reached')
    serve(server, { api: answer, redirect: answer, below: {}, probes: {} })
    const port = await listenOn(server, 0, '127.0.0.1')
    const send = async (head: string) => {
      const socket = connect(port, '127.0.0.1')
      socket.write(`GET /a HTTP/1.1\r\n${head}\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
      const pieces: Buffer[] = []
      for await (const piece of socket) pieces.push(piece as Buffer)
      return Buffer.concat(pieces).toString()
    }
    for (const hosts of ['Host: a\r\nHost: b', 'Host: a\r\nhost: a', 'HOST: a\r\nX: y\r\nHost: b']) {
      const answered = await send(hosts)
      expect(answered).to.match(/^HTTP\/1.1 400 /)
      expect(answered).to.include('The request must have one `Host` header.')
      expect(answered).to.not.include('reached')
    }
    expect(await send('Host: a')).to.match(/^HTTP\/1.1 200 /)
    await closeServer(server, 0)
  })
})

describe('a request of HTTP', () => {
  const ask = async (head: string) => {
    const server = createHttpServer()
    const answer = (req: IncomingMessage, res: ServerResponse) => void res.end(`<${req.headers.host} ${req.url}>`)
    serve(server, { api: answer, redirect: answer, below: {}, probes: {} })
    const socket = connect(await listenOn(server, 0, '127.0.0.1'), '127.0.0.1')
    socket.write(head)
    const pieces: Buffer[] = []
    for await (const piece of socket) pieces.push(piece as Buffer)
    await closeServer(server, 0)
    return Buffer.concat(pieces).toString()
  }

  it('names one host for every spelling of it: an empty port, or a whole address in the first line', async () => {
    for (const [at, host, named] of [
      ['/a', 'brand.example:', 'brand.example /a'],
      ['/a', 'brand.example:8080', 'brand.example:8080 /a'],
      ['http://brand.example/a?b', 'other.example', 'brand.example /a?b'],
      ['HTTPS://me@brand.example:', 'other.example', 'brand.example /'],
      ['/http://other.example/a', 'brand.example', 'brand.example /http://other.example/a'],
    ] as const)
      expect(await ask(`GET ${at} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`), at).to.include(`<${named}>`)
    expect(await ask('GET /a HTTP/1.0\r\n\r\n')).to.include('<undefined /a>')
  })

  it('is refused in the form of the API without a host, and with an expectation that is not known', async () => {
    for (const [head, status] of [
      ['', 400],
      ['Host: a\r\nExpect: x\r\nContent-Length: 9\r\n', 417],
    ] as const) {
      const answered = await ask(`POST /api/urls HTTP/1.1\r\n${head}\r\n`)
      expect(answered)
        .to.match(new RegExp(`^HTTP/1.1 ${status} `))
        .and.match(/\r\nContent-Type: application\/json/)
      expect(answered)
        .to.match(/\r\nConnection: close/i)
        .and.match(/"error":1,"message":"The /)
    }
  })
})

describe('a connection with many requests', () => {
  const requests = (count: number, from = 0) =>
    Array.from({ length: count }, (_, i) => `POST /${from + i} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx`).join(
      '',
    )
  let server: Server
  let socket: Socket
  let text = ''
  let waiting: (() => void)[] = []
  const answerAll = () => waiting.splice(0).forEach((finish) => finish())
  beforeEach(async () => {
    ;[text, waiting] = ['', []]
    server = createHttpServer()
    const answer = (req: IncomingMessage, res: ServerResponse) => {
      req.resume()
      waiting.push(() => res.end(`${req.url};`))
    }
    serve(server, { api: answer, redirect: answer, below: {}, probes: {} })
    socket = connect(await listenOn(server, 0, '127.0.0.1'), '127.0.0.1')
    socket.on('error', () => {}).on('data', (piece: Buffer) => (text += piece.toString()))
  })
  afterEach(async () => {
    socket.destroy()
    await closeServer(server, 0)
  })

  it('is not read any further while ten wait for their answers, and all are answered in their order', async () => {
    socket.write(requests(10))
    await until(
      async () => waiting.length,
      (count) => count === 10,
    )
    socket.write(requests(50, 10))
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(waiting).to.have.length(10)
    await until(
      async () => {
        answerAll()
        return text
      },
      (all) => all.includes('/59;'),
    )
    const answered = [...text.matchAll(/\/(\d+);/g)].map(([, number]) => Number(number))
    expect(answered).to.deep.equal(Array.from({ length: 60 }, (_, i) => i))
  })

  it('is closed when more than a hundred have arrived together, of which no more are begun', async () => {
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write(requests(5000))
    await closed
    expect(waiting).to.have.length(100)
  })
})

describe('a server that closes', () => {
  it('finishes open requests, and does not wait for clients that go on sending', async () => {
    let finish = () => {}
    let arrived = () => {}
    const arrival = new Promise<void>((resolve) => (arrived = resolve))
    const server = createHttpServer().on('request', ({ url }, res: ServerResponse) => {
      if (url !== '/slow') return void res.end('early')
      finish = () => res.end('finished')
      arrived()
    })
    const port = await listenOn(server, 0, '127.0.0.1')
    const drips: NodeJS.Timeout[] = []
    const drip = (text: string): Socket => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      socket.write(text)
      drips.push(setInterval(() => socket.write('x'), 100))
      return socket
    }
    const head = drip('GET / HTTP/1.1\r\nHost: x\r\nX: ')
    // answered before its body has arrived
    const body = drip('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n')
    const [early] = (await once(body, 'data')) as [Buffer]
    expect(early.toString()).to.include('200 OK')
    const slow = client(`http://127.0.0.1:${port}`).get('/slow')
    await arrival
    const ends = Promise.all([head, body].map((socket) => once(socket.resume(), 'close')))
    const closed = closeServer(server, 2 ** 31 - 1)
    await ends
    finish()
    expect((await slow).text).to.equal('finished')
    await closed
    drips.forEach(clearInterval)
  })
})

describe('a server that closes while handlers run whose clients have gone', () => {
  /** Starts a server whose only request works until `end` is called, after its client has gone. */
  const startAbandoned = async () => {
    let end = () => {}
    const work = new Promise<void>((resolve) => (end = resolve))
    const server = createHttpServer()
    const gone = new Promise<void>((resolve) =>
      serve(server, {
        api: nothingHere,
        redirect: (_, res) => {
          res.once('close', () => resolve())
          return work
        },
        below: {},
        probes: {},
      }),
    )
    const socket = connect(await listenOn(server, 0, '127.0.0.1'), '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(server, 'request')
    socket.destroy()
    await gone
    return { server, end }
  }

  it('waits for them', async () => {
    const { server, end } = await startAbandoned()
    let isClosed = false
    const closed = closeServer(server, 2 ** 31 - 1).then(() => (isClosed = true))
    await once(server, 'close')
    // all that a server without handlers would have left to do
    await nextTurn()
    expect(isClosed).to.equal(false)
    end()
    await closed
  })

  it('waits no longer than it has time', async () => {
    const { server, end } = await startAbandoned()
    await closeServer(server, 20)
    end()
  })
})
