import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** Kinds of requests, by their number in Kafka's protocol. */
export const api = { produce: 0, fetch: 1, join: 11, heartbeat: 12 } as const

/** Returns what the client receives for a response: the response, a changed one, or a cut connection. */
export type Rewrite = (kind: number, response: Buffer) => Buffer | 'cut'

const unchanged: Rewrite = (_, response) => response

/** Splits a stream of bytes into whole messages: each begins with its length. */
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

/** Starts a proxy between clients and a broker that can lose or change the broker's responses. */
export const startProxy = async () => {
  const sockets = new Set<Socket>()
  let [target, rewrite] = [0, unchanged]
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
      framing((response) => {
        const correlation = response.readInt32BE(4)
        const rewritten = rewrite(kinds.get(correlation) ?? -1, response)
        kinds.delete(correlation)
        if (rewritten === 'cut') end()
        else if (!client.destroyed) client.write(rewritten)
      }),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    forwardTo: (port: number) => void (target = port),
    /** Rewrites all responses from now on; without an argument, none. */
    rewriteResponses: (how: Rewrite = unchanged) => void (rewrite = how),
    close: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close').catch(() => {})
    },
  }
}
export type Proxy = Awaited<ReturnType<typeof startProxy>>
