import { approval } from '../../commands/approvals/approval.ts'
import { isRefused, refuse } from '../../commands/decider.ts'
import { link } from '../../commands/links/link.ts'
import { senderOf } from '../accounts/invitation.ts'
import { requireAllDomains, requireDomain } from '../api/limits/part.ts'
import type { Call } from '../api/route.ts'
import type { AnyDecider, Waiting } from './proposed.ts'

type Asking = Pick<Call, 'limited' | 'load' | 'member' | 'key'>

/**
 * Throws `Refused` (`not_found`) unless a caller sees a proposal: who sees a part of the account sees what they have
 * proposed themselves and, on the domains that they are limited to, changes of links; nothing of what they do not see.
 */
export const requireSeen = async (
  call: Asking,
  { member, target, decider }: Pick<Waiting, 'member' | 'target'> & { readonly decider: AnyDecider },
): Promise<void> => {
  const { limited, load } = call
  if (!limited) return
  const { maker, domains } = limited
  const isTheirs = member === senderOf(call).member || (maker === undefined && decider.kind === link.kind)
  const isHidden =
    decider.kind === approval.kind || (decider.kind === 'domain' && domains !== undefined && !domains.includes(target))
  if (!isTheirs || isHidden) refuse('not_found', { what: 'proposal' })
  await load(decider, target).catch((error: unknown) => {
    if (!isRefused(error, 'not_found')) throw error
    refuse('not_found', { what: 'proposal' })
  })
}

/** Fails unless a caller could make a change themselves, in whose place they approve it. */
export const requireOwnChange = async (
  { limited, load }: Pick<Call, 'limited' | 'load'>,
  { decider, command }: Waiting,
): Promise<void> => {
  // an author approves nothing, and a member limited to domains nothing but changes of links there
  if (limited?.maker !== undefined || (limited && decider.kind !== link.kind)) refuse('not_found', { what: 'proposal' })
  if (!limited) return
  await requireAllDomains({ load }, Number(decider.id(command)), limited)
  requireDomain(decider.kind, command, limited, false)
}
