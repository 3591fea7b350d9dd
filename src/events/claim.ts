import { z } from 'zod'
import type { EventOf } from './event.ts'

export const claimEvents = {
  /**
   * A unique name was claimed for the resource `holder`. The claim is valid once an event in the holder's stream
   * carries the token, and for as long as the holder's state keeps it.
   */
  NameClaimed: z.object({ token: z.string(), holder: z.string(), account: z.int() }),
  /** In the stream of a resource that has not used the token of its claim: it can no longer do so. */
  ClaimFenced: z.object({ token: z.string() }),
}
export type ClaimEvent = EventOf<typeof claimEvents>
