import { type IncomingMessage, ServerResponse } from 'node:http'
import { clientAddress, networkOf, type TrustedProxies } from '../../lib/address.ts'

export interface UnreadLimits {
  readonly trustProxy: TrustedProxies
  /** bytes from which on an answer is large */
  readonly large?: number
  /** ms that a client has for any large answer, and bytes that it has to read in each second after that */
  readonly ms?: number
  readonly rate?: number
  /** bytes of large answers that one network may have been sent and not read */
  readonly most?: number
}

interface Unread {
  readonly size: number
  readonly response: ServerResponse
}

/**
 * Returns the class of responses of a server whose large answers do not stay in memory for as long as a client likes: a
 * connection that reads one too slowly as a whole is closed, and so are those of a network that has too much unread,
 * beginning with the oldest answer.
 */
export const limitUnread = ({
  trustProxy,
  large = 64 * 1024,
  ms = 60_000,
  rate = 16 * 1024,
  most = 64 * 1024 * 1024,
}: UnreadLimits) => {
  /** of each network, the oldest first */
  const networks = new Map<string, Set<Unread>>()

  const note = (response: ServerResponse, size: number) => {
    const network = networkOf(clientAddress(response.req, trustProxy))
    const unread = networks.get(network) ?? new Set()
    const one = { response, size }
    networks.set(network, unread.add(one))
    const timer = setTimeout(() => response.destroy(), ms + (size / rate) * 1000)
    const end = () => {
      clearTimeout(timer)
      unread.delete(one)
      if (unread.size === 0 && networks.get(network) === unread) networks.delete(network)
    }
    response.once('close', end)
    let bytes = [...unread].reduce((sum, other) => sum + other.size, 0)
    for (const other of unread) {
      if (bytes <= most || other === one) break
      bytes -= other.size
      unread.delete(other)
      other.response.destroy()
    }
  }

  return class Answer<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
    override end(...given: unknown[]): this {
      const size = (given[0] as { readonly length?: number } | undefined)?.length ?? 0
      if (size > large && !this.destroyed) note(this, size)
      return super.end(...(given as []))
    }
  }
}
