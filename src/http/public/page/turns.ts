import type { IncomingMessage } from 'node:http'
import { clientAddress, networkOf, type TrustedProxies } from '../../../lib/address.ts'
import { createFairQueue } from '../../../lib/async/fairqueue.ts'
import { Unavailable } from '../../../lib/unavailable.ts'

/** Resolves when a page that takes long to write may be written. Rejects with `Unavailable` when too many wait. */
export type PageTurn = (req: IncomingMessage) => Promise<void>

/** pages that wait at most: of all networks, and of one */
const [total, perSource] = [10_000, 1000]

interface Waiting {
  readonly begin: () => void
  readonly refuse: () => void
}

/**
 * Returns what gives turns to pages whose size an account chooses, up to 200 KB and some milliseconds: one in each turn
 * of the event loop, so that everything else goes on in between. Networks take turns.
 */
export const createPageTurns = (
  trustProxy: TrustedProxies,
  later: (next: () => void) => void = setImmediate,
): PageTurn => {
  const waiting = createFairQueue<Waiting>({ total, perSource, onLeft: ({ refuse }) => refuse() })
  let isTaken = false
  const next = () => {
    const page = waiting.shift()
    isTaken = page !== undefined
    if (!page) return
    page.begin()
    later(next)
  }
  return (req) =>
    new Promise((begin, reject) => {
      if (!isTaken) {
        isTaken = true
        later(next)
        return begin()
      }
      const refuse = () => reject(new Unavailable('too many pages wait'))
      const network = networkOf(clientAddress(req, trustProxy))
      if (!waiting.push(network, { begin, refuse })) refuse()
    })
}
