import type { IncomingMessage } from 'node:http'
import QuickLRU from 'quick-lru'
import { addressBlock, clientAddress, type TrustedProxies } from '../../lib/address.ts'

/** Counts requests for unknown addresses, by network. A network that guesses is answered without a lookup for a while. */
export interface Misses {
  readonly count: (req: IncomingMessage) => void
  readonly exceeded: (req: IncomingMessage) => boolean
}

const limit = 60
const minute = 60_000

export const createMisses = (trustProxy: TrustedProxies): Misses => {
  const counts = new QuickLRU<string, number>({ maxSize: 10_000, maxAge: minute })
  const networkOf = (req: IncomingMessage) => addressBlock(clientAddress(req, trustProxy))
  return {
    count: (req) => {
      const network = networkOf(req)
      // the window starts with the first miss and does not slide
      const left = (counts.expiresIn(network) ?? minute) || minute
      counts.set(network, (counts.get(network) ?? 0) + 1, { maxAge: left })
    },
    exceeded: (req) => (counts.get(networkOf(req)) ?? 0) >= limit,
  }
}
