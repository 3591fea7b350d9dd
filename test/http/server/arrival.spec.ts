import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { limitArrival, renewed } from '../../../src/http/server/arrival.ts'
import { listenOn } from '../../../src/http/server/listen.ts'
import { closeServer } from '../../../src/http/server/server.ts'

describe('the body of a request', () => {
  const cleanups: (() => unknown)[] = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup()
  })

  /** Sends a body in so many pieces, 100 ms apart. Returns what was reported of its request, and how much has come. */
  const send = async (pieces: number, bytes: number, renews = true) => {
    const reports: unknown[] = []
    let come = 0
    const server = createServer((req: IncomingMessage, res: ServerResponse) => {
      const renew = renews ? renewed(req) : () => {}
      req.on('data', ({ length }: Buffer) => {
        come += length
        renew(length)
      })
      req.on('end', () => res.end())
    })
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      reports.push(error.code)
      socket.destroy()
    })
    limitArrival(server, 400)
    const socket = connect(await listenOn(server, 0, '127.0.0.1'), '127.0.0.1').on('error', () => {})
    cleanups.push(
      () => socket.destroy(),
      () => closeServer(server, 0),
    )
    await once(socket, 'connect')
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${pieces * bytes}\r\n\r\n`)
    for (let n = 0; n < pieces && reports.length === 0; n++) {
      socket.write(Buffer.alloc(bytes))
      await pause(100)
    }
    return { reports, come }
  }

  it('ends its connection when it does not arrive in time, however steadily it comes', async () => {
    const { reports } = await send(20, 10_000, false)
    expect(reports).to.deep.equal(['ERR_HTTP_REQUEST_TIMEOUT'])
  })

  it('may take any time where its handler extends the deadline with each part', async () => {
    const { reports, come } = await send(20, 10_000)
    expect([reports, come]).to.deep.equal([[], 200_000])
  })

  it('does not live on single bytes', async () => {
    const { reports } = await send(20, 1)
    expect(reports).to.deep.equal(['ERR_HTTP_REQUEST_TIMEOUT'])
  })
})
