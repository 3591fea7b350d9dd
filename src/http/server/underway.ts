import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The connections of each server, with the number of their pending requests. */
const waiting = new WeakMap<Server, Map<Socket, number>>()

/** Returns the connections of a server, with the number of their pending requests. */
export const requestsUnderWay = (server: Server): Iterable<readonly [Socket, number]> => waiting.get(server) ?? []

/** A connection with this many pending requests is not read further. Browsers and proxies send one at a time. */
const mostRead = 10
/** Requests arrive together before a connection can be paused: one with more than this many is closed. */
const most = 100

/** Counts the pending requests of each connection, and stops clients that send many more than are answered. */
export const limitUnderWay = (server: Server): void => {
  const open = new Map<Socket, number>()
  waiting.set(server, open)
  const isFull = (socket: Socket) => (open.get(socket) ?? 0) >= mostRead
  const add = (socket: Socket, n: number) => {
    const before = open.get(socket)
    if (before !== undefined) open.set(socket, before + n)
  }
  server.on('connection', (socket: Socket) => {
    open.set(socket, 0)
    socket.once('close', () => open.delete(socket))
    // Node resumes reading for the body of a request
    socket.on('resume', () => {
      if (isFull(socket)) socket.pause()
    })
  })
  server.on('request', ({ socket }: IncomingMessage, res: ServerResponse) => {
    add(socket, 1)
    if ((open.get(socket) ?? 0) > most) socket.destroy()
    else if (isFull(socket)) socket.pause()
    res.once('close', () => {
      const wasFull = isFull(socket)
      add(socket, -1)
      if (wasFull && !isFull(socket)) socket.resume()
    })
  })
}
