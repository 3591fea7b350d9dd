import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect } from 'chai'
import { type ConnectionLimit, limitConnections } from '../../../src/http/server/connections.ts'
import { listenOn } from '../../../src/http/server/listen.ts'
import { closeServer, createHttpServer } from '../../../src/http/server/server.ts'
import { until } from '../../support/client.ts'

describe('connections', () => {
  const cleanups: (() => unknown)[] = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup()
  })

  const start = async (limits: { perAddress?: number; total?: number; exempt?: string }) => {
    const server = createHttpServer().on('request', (_, res: ServerResponse) => res.end('hello'))
    const closed: ConnectionLimit[] = []
    limitConnections(server, {
      perAddress: 0,
      ...limits,
      isExempt: (address) => address === limits.exempt,
      onClosed: (limit) => closed.push(limit),
    })
    const port = await listenOn(server, 0, '127.0.0.1')
    cleanups.push(() => closeServer(server, 0))
    /** Opens a connection that has sent half of its headers when it is returned. */
    const drip = async (): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      cleanups.push(() => socket.destroy())
      await once(socket, 'connect')
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n')
      return socket
    }
    return { closed, drip }
  }
  /**
   * Resolves once a connection is closed. One that the server has closed before it read anything ends with ECONNRESET.
   */
  const ended = (socket: Socket) => new Promise<void>((done) => socket.resume().once('close', () => done()))
  const answerOf = async (socket: Socket) => {
    socket.write('\r\n')
    const [bytes] = (await once(socket, 'data').catch(() => [''])) as [Buffer | string]
    return bytes.toString()
  }

  it('of one address are limited, and one that ends makes room', async () => {
    const { drip, closed } = await start({ perAddress: 2 })
    const [first, second] = [await drip(), await drip()]
    const refused = await drip()
    await ended(refused)
    expect(closed).to.deep.equal(['address'])
    expect(await answerOf(second)).to.match(/^HTTP\/1\.1 200 /)
    first.destroy()
    const answer = await until(async () => {
      const next = await drip()
      return Promise.race([answerOf(next), ended(next).then(() => '')])
    }, Boolean)
    expect(answer).to.match(/^HTTP\/1\.1 200 /)
  })

  it('of a trusted proxy are not limited', async () => {
    const { drip, closed } = await start({ perAddress: 1, exempt: '127.0.0.1' })
    const sockets = [await drip(), await drip(), await drip()]
    for (const socket of sockets) expect(await answerOf(socket)).to.match(/^HTTP\/1\.1 200 /)
    expect(closed).to.deep.equal([])
  })

  it('make room for new ones when there are too many: the one whose request is the longest ago is closed', async () => {
    const { drip, closed } = await start({ total: 3 })
    const used = await drip()
    const dripping = await drip()
    expect(await answerOf(used)).to.match(/^HTTP\/1\.1 200 /)
    const closing = ended(dripping)
    const later = [await drip(), await drip()]
    await closing
    expect(closed).to.deep.equal(['total'])
    used.write('GET / HTTP/1.1\r\nHost: x\r\n')
    for (const socket of [used, ...later]) expect(await answerOf(socket)).to.match(/^HTTP\/1\.1 200 /)
  })
})
