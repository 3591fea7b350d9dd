import { z } from 'zod'
import type { EventOf } from './event.ts'

export const claimEvents = {
  /**
   * A unique name was taken for a resource. It counts from when an event of that resource's stream carries the token,
   * and for as long as the resource's fold holds it.
   */
  NameClaimed: z.object({ token: z.string(), holder: z.string(), account: z.int() }),
  /** Stands in the stream of a resource that never carried the token: from now on it never can. */
  ClaimFenced: z.object({ token: z.string() }),
}
export type ClaimEvent = EventOf<typeof claimEvents>
