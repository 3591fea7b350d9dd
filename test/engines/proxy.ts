import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** Kinds of requests, by their number in Kafka's protocol. */
export const api = { produce: 0, fetch: 1, join: 11, heartbeat: 12 } as const

/** What becomes of an answer: it goes on (changed, perhaps), or the connection is cut in its place. */
export type Answering = (kind: number, answer: Buffer) => Buffer | 'cut'

/** Whole messages out of a stream of bytes: each begins with its length. */
const framing = (onFrame: (frame: Buffer) => void) => {
  let held = Buffer.alloc(0)
  return (bytes: Buffer) => {
    held = Buffer.concat([held, bytes])
    while (held.length >= 4 && held.length >= 4 + held.readInt32BE(0)) {
      const size = 4 + held.readInt32BE(0)
      onFrame(held.subarray(0, size))
      held = held.subarray(size)
    }
  }
}

/** Stands between clients and a broker, and lets them be told what the broker did not say. */
export const startProxy = async () => {
  const sockets = new Set<Socket>()
  let [target, answering]: [number, Answering] = [0, (_, answer) => answer]
  const server = createServer((client) => {
    const broker = connect(target, '127.0.0.1')
    const kinds = new Map<number, number>()
    const end = () => {
      client.destroy()
      broker.destroy()
    }
    for (const socket of [client, broker]) {
      sockets.add(socket)
      socket.on('error', end)
      socket.on('close', () => {
        sockets.delete(socket)
        end()
      })
    }
    client.on(
      'data',
      framing((request) => {
        kinds.set(request.readInt32BE(8), request.readInt16BE(4))
        broker.write(request)
      }),
    )
    broker.on(
      'data',
      framing((answer) => {
        const number = answer.readInt32BE(4)
        const told = answering(kinds.get(number) ?? -1, answer)
        kinds.delete(number)
        if (told === 'cut') end()
        else if (!client.destroyed) client.write(told)
      }),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    to: (port: number) => void (target = port),
    /** From now on; without one, everything goes on as it is. */
    answer: (how: Answering = (_, answer) => answer) => void (answering = how),
    close: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close').catch(() => {})
    },
  }
}
export type Proxy = Awaited<ReturnType<typeof startProxy>>
