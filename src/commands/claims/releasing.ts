import type { EventStore } from '../../events/store.ts'
import { parseStreamId } from '../../events/streams.ts'
import { append } from '../append.ts'
import type { Context } from '../context.ts'
import { Refused } from '../decider.ts'
import type { Load } from '../load.ts'
import type { Claim } from './claim.ts'
import { releaseClaim } from './writes.ts'

/** Claims that a command may have stored, by their streams. */
export type Claimed = Map<string, Claim>

/**
 * Runs the attempts of a command. If it is refused, frees the names that an earlier attempt has claimed. `context` is
 * that of an id.
 */
export const releasing =
  (store: EventStore, load: Load) =>
  async <R>(context: (id: number) => Context, run: (claimed: Claimed) => Promise<R>): Promise<R> => {
    const claimed: Claimed = new Map()
    const release = async (claim: Claim) => {
      const fence = await releaseClaim(store, load)(claim)
      if (!fence) return
      const { stream, expected } = fence
      await append(store, [fence], context(parseStreamId(stream).number), { stream, revision: expected })
    }
    try {
      return await run(claimed)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      // a claim that cannot be released counts as abandoned after a while
      for (const claim of claimed.values()) await release(claim).catch(() => {})
      throw error
    }
  }
