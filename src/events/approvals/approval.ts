import { z } from 'zod'
import { Personal } from '../../security/seal.ts'
import type { EventOf } from '../event.ts'
import { openEnum } from '../openenum.ts'

const id = z.int()
/** The number of a proposal within the account, which is never used again. */
const number = z.int().min(1)
/** The member who did it, by the number within the account. */
const member = z.int().min(1)
const note = Personal.optional()

/**
 * Which links of an account are changed only once a second person has approved it, and what was proposed. `id` is that
 * of the account.
 */
export const approvalEvents = {
  /** Links with one of the tags, or on one of the domains (0: the service's own host); `live`: all that answer now. */
  ApprovalRulesSet: z.object({ id, tags: z.array(z.string()), domains: z.array(z.int().min(0)), live: z.boolean() }),
  /**
   * `command` is what happens to the resource once it is approved; null: it cannot be read any more. `revision`: the
   * resource's, which the proposal was made on.
   */
  ChangeProposed: z.object({
    id,
    number,
    kind: z.string(),
    target: id,
    revision: z.int(),
    member,
    command: z.record(z.string(), z.unknown()).nullable(),
  }),
  ChangeApproved: z.object({ id, number, member, note }),
  /** It has happened: an event in the stream of the resource follows or precedes this one. */
  ChangeApplied: z.object({ id, number }),
  /** `withdrawn`: by who proposed it; `stale`: the resource was changed meanwhile. */
  ChangeRefused: z.object({ id, number, member, note, why: openEnum(z.enum(['refused', 'withdrawn', 'stale'])) }),
}
export type ApprovalEvent = EventOf<typeof approvalEvents>

export const approvalTexts = {
  ApprovalRulesSet: { blank: { tags: [] } },
  ChangeProposed: { blank: { command: null } },
} as const
