import type { IncomingMessage } from 'node:http'
import type { Server, Socket } from 'node:net'
import { addressBlock } from '../../lib/address.ts'

/** A limit that a connection can exceed. */
export type ConnectionLimit = 'address' | 'total'

export interface ConnectionLimits {
  /** connections of one address block, 0 = unlimited */
  readonly perAddress: number
  /** Returns whether an address may open any number of connections, because it is a proxy. */
  readonly isExempt: (address: string) => boolean
  /** Called for each connection that is closed, with the limit that it exceeded. */
  readonly onClosed: (limit: ConnectionLimit) => void
  readonly total?: number
}

/**
 * Below the limit of the server, because a connection that is closed here still counts until the next turn of the event
 * loop.
 */
const total = 9000

/**
 * Limits the connections of each address. At the total limit, each new connection closes the one whose last request is
 * the longest ago: a visitor needs a few milliseconds for a request, while connections that keep the service busy have
 * to stay.
 */
export const limitConnections = (server: Server, limits: ConnectionLimits) => {
  const byBlock = new Map<string, number>()
  /** in the order of their last requests */
  const byRequest = new Set<Socket>()

  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const block = addressBlock(address)
    const others = byBlock.get(block) ?? 0
    if (limits.perAddress > 0 && others >= limits.perAddress && !limits.isExempt(address)) {
      limits.onClosed('address')
      return void socket.destroy()
    }
    if (byRequest.size >= (limits.total ?? total)) closeOldest(byRequest, limits)
    byBlock.set(block, others + 1)
    byRequest.add(socket)
    socket.once('close', () => {
      byRequest.delete(socket)
      const left = byBlock.get(block)! - 1
      if (left > 0) byBlock.set(block, left)
      else byBlock.delete(block)
    })
  })
  server.on('request', ({ socket }: IncomingMessage) => {
    // a connection that was closed meanwhile must not come back
    if (byRequest.delete(socket)) byRequest.add(socket)
  })
}

const closeOldest = (byRequest: Set<Socket>, { onClosed }: ConnectionLimits) => {
  const [oldest] = byRequest
  if (oldest === undefined) return
  byRequest.delete(oldest)
  onClosed('total')
  oldest.destroy()
}
