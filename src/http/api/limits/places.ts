import { addressSite } from '../../../lib/address.ts'
import type { Failure } from '../errors.ts'

/** The requester of a place: the account of a request, and the address block of its client. */
export interface Wanting {
  readonly account: number
  readonly from: string
}

interface Held {
  readonly network: string
  readonly since: number
  readonly lose: (why: Failure) => void
}

interface Shared {
  /** 0 = unlimited */
  readonly most: number
  /** ms after which a place may go to any network with fewer places that finds none */
  readonly longestMs: number
  /** the response when there is no place, or it is lost */
  readonly busy: () => Failure
  readonly now?: () => number
}

export interface Places {
  /** Takes a place and returns a function that gives it back. Calls `lose` when it goes to another request before. */
  readonly take: (wanting: Wanting, lose: Held['lose']) => () => void
  readonly taken: () => number
}

/** Returns the number of places of each network. */
const byNetwork = (held: Iterable<Held>) => {
  const counts = new Map<string, number>()
  for (const { network } of held) counts.set(network, (counts.get(network) ?? 0) + 1)
  return counts
}

/**
 * Distributes the places that all accounts of a process share. A person can have many accounts, so when no place is
 * free, the network with the most gives its newest one to a network with fewer, and a place that was held for long goes
 * to any such network. Until then, all places are kept, regardless of how many are behind one address.
 */
export const sharePlaces = ({ most, longestMs, busy, now = () => performance.now() }: Shared): Places => {
  // the oldest first
  const held = new Set<Held>()

  /** Returns the holder who must give a place to a network, or undefined. */
  const loserTo = (network: string) => {
    const counts = byNetwork(held)
    const own = counts.get(network) ?? 0
    const of = (one: Held) => counts.get(one.network) ?? 0
    const greatest = Math.max(...counts.values())
    if (greatest > own + 1) return [...held].findLast((one) => of(one) === greatest)
    return [...held].find((one) => of(one) > own && now() - one.since > longestMs)
  }

  return {
    take: ({ from }, lose) => {
      const network = addressSite(from)
      if (most > 0 && held.size >= most) {
        const loser = loserTo(network)
        if (!loser) throw busy()
        held.delete(loser)
        loser.lose(busy())
      }
      const place = { network, since: now(), lose }
      held.add(place)
      return () => void held.delete(place)
    },
    taken: () => held.size,
  }
}
