import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect } from 'chai'
import { listenOn } from '../../../src/http/server/listen.ts'
import { limitUnread, type UnreadLimits } from '../../../src/http/server/unread.ts'
import { closeServer } from '../../../src/http/server/server.ts'
import { until } from '../../support/client.ts'

/** more than the buffers of two sockets hold */
const size = 32 * 1024 * 1024

describe('a large answer', () => {
  const cleanups: (() => unknown)[] = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup()
  })

  /** Starts a server that answers `/SIZE`. Returns what asks it from an address and reads nothing, and what it closed. */
  const start = async (limits: Omit<UnreadLimits, 'trustProxy'>) => {
    const closed: string[] = []
    const ServerResponse = limitUnread({ trustProxy: 1, ...limits })
    const server = createServer(
      { ServerResponse },
      ({ url = '', headers, socket }: IncomingMessage, res: ServerResponse) => {
        res.once('close', () => socket.destroyed && closed.push(String(headers['x-name'])))
        res.end(Buffer.alloc(Number(url.slice(1))))
      },
    )
    const port = await listenOn(server, 0, '127.0.0.1')
    cleanups.push(() => closeServer(server, 0))
    const ask = async (name: string, from: string, bytes = size): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      cleanups.push(() => socket.destroy())
      await once(socket, 'connect')
      socket.write(`GET /${bytes} HTTP/1.1\r\nHost: x\r\nX-Name: ${name}\r\nX-Forwarded-For: ${from}\r\n\r\n`)
      await once(socket, 'readable')
      return socket
    }
    return { ask, closed }
  }
  const readWhole = async (socket: Socket, bytes = size) => {
    let read = 0
    socket.on('data', (data: Buffer) => (read += data.length))
    await until(
      async () => read,
      (n) => n >= bytes,
    )
  }

  it('that is not read in its time is closed, however little is read meanwhile, and one that is read is not', async () => {
    const { ask, closed } = await start({ ms: 50, rate: size })
    const socket = await ask('slow', '192.0.2.1')
    const reading = setInterval(() => socket.read(1024), 10)
    await until(
      async () => closed,
      ({ length }) => length > 0,
    )
    clearInterval(reading)
    expect(closed).to.deep.equal(['slow'])
    const others = await start({})
    await readWhole(await others.ask('fast', '192.0.2.1'))
    expect(others.closed).to.deep.equal([])
  })

  it('is closed when its network has too much unread: the oldest first, and none of another network', async () => {
    const { ask, closed } = await start({ most: 2 * size + 1 })
    await ask('first', '192.0.2.1')
    const second = await ask('second', '192.0.2.1')
    await ask('other', '192.0.2.2')
    await ask('small', '192.0.2.1', 1024)
    expect(closed).to.deep.equal([])
    const third = await ask('third', '192.0.2.1')
    await until(
      async () => closed,
      ({ length }) => length > 0,
    )
    expect(closed).to.deep.equal(['first'])
    // what is read makes room
    await readWhole(second)
    await readWhole(third)
    await ask('fourth', '192.0.2.1')
    await ask('fifth', '192.0.2.1')
    expect(closed).to.deep.equal(['first'])
  })
})
