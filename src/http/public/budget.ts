import type { IncomingMessage } from 'node:http'
import QuickLRU from 'quick-lru'
import {
  addressBlock,
  clientAddress,
  type CountedNetwork,
  countedNetworks,
  type TrustedProxies,
} from '../../lib/address.ts'

/**
 * Counts something that a client should not do often, by network. Returns 0 within the limit, and over it the whole
 * seconds until the window ends.
 */
export type Budget = (req: IncomingMessage) => number

const minute = 60_000

/** Opens a budget per network and minute. The window starts with the first count and does not slide. */
export const createBudget = (limit: number, trustProxy: TrustedProxies, now = () => performance.now()): Budget => {
  const windows = new QuickLRU<string, { count: number; readonly ends: number }>({ maxSize: 10_000 })
  const spend = ({ network, times }: CountedNetwork) => {
    const known = windows.get(network)
    const window = known && known.ends > now() ? known : { count: 0, ends: now() + minute }
    window.count++
    windows.set(network, window)
    return window.count > limit * times ? Math.ceil((window.ends - now()) / 1000) : 0
  }
  return (req) => {
    for (const network of countedNetworks(addressBlock(clientAddress(req, trustProxy)))) {
      const wait = spend(network)
      // what a block is refused is not counted for its site
      if (wait > 0) return wait
    }
    return 0
  }
}

/** requests for unknown addresses in a minute; more are a program that guesses */
export const missLimit = 60
