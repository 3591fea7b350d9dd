import { z } from 'zod'
import type { EventOf } from '../event.ts'
import { openEnum } from '../openenum.ts'

/**
 * What the operator can block: a link, a bio page or a campaign by its id, a branded domain by its host, and
 * destinations by their host, with all hosts below it, or by a pattern.
 */
export const BlockKind = z.enum(['link', 'bio', 'domain', 'host', 'pattern', 'campaign'])

const subject = {
  kind: openEnum(BlockKind),
  /** the id, host or pattern */
  value: z.string(),
}

export const blockEvents = {
  /** The actor in the metadata blocked it. The account that creates a link to a blocked host can read `reason`. */
  AddressBlocked: z.object({
    ...subject,
    reason: z.string(),
    /**
     * of a link, a bio page or a campaign: its current and former addresses, as host and alias (`go.example.com/sale`,
     * `/sale` and `/r/sale` on the service's own host). Resources at these addresses are blocked, too, also those of
     * later owners.
     */
    addresses: z.array(z.string()).optional(),
  }),
  AddressUnblocked: z.object(subject),
}
export type BlockEvent = EventOf<typeof blockEvents>
