import { z } from 'zod'
import { approval } from '../../commands/approvals/approval.ts'
import { refuse, Refused } from '../../commands/decider.ts'
import type { Handler } from '../../commands/handle.ts'
import { text } from '../../lib/fields.ts'
import { senderOf } from '../accounts/invitation.ts'
import { fail } from '../api/errors.ts'
import { byId } from '../api/fields.ts'
import { endpoint, type Call, type Route } from '../api/route.ts'
import { type ChangeChecks, requireAllowed } from './allowed.ts'
import { approvalContract } from './contract.ts'
import { abandoned, commandOf, isMade, storeApproval } from './made.ts'
import { isProposer, isSender } from './people.ts'
import { requireCurrent, type Waiting, waitingProposal } from './proposed.ts'
import { requireOwnChange, requireSeen } from './seen.ts'

/** Dependencies of the routes of approvals. */
export interface ApprovalServices extends ChangeChecks {
  readonly handler: Handler
}

const Note = z.object({ note: text(1000).optional() })

/** Fails unless a call may approve a proposal: a signed-in member who could make the change themselves. */
const requireApprover = async (call: Call<{ readonly id: number }>, waiting: Waiting) => {
  const { load, may, member, session } = call
  const { decider, target, kind } = waiting
  if (session === undefined) fail(403, 'not_dashboard', { what: 'session' })
  await requireOwnChange(call, waiting)
  if (kind !== approval.kind) await load(decider, target)
  else if (!may('account')) fail(403, 'lacks_rights', { what: 'role', role: member?.role ?? '' })
}

/** Refusals of a change whose resource has changed since the proposal. */
const outdated: ReadonlySet<string> = new Set(['changed', 'not_found', 'stale'])

/**
 * The parts of a request that end a proposal, besides the approval itself: a repeated request must not take the one for
 * the other.
 */
const [asMade, asStale] = [1, 2]

const approve = ({ handler, ...services }: ApprovalServices) =>
  endpoint(approvalContract, 'POST /api/proposal/:id/approve', {
    scope: 'write',
    limited: true,
    params: byId,
    body: Note,
    run: async (call) => {
      const { account: id, apply, body, member: sender, params, part, write } = call
      const number = params.id
      const of = { account: id, number }
      const waiting = await waitingProposal(handler, id, number)
      await requireSeen(call, waiting)
      await requireApprover(call, waiting)
      const { member } = senderOf(call)
      if (await isProposer(call, handler, waiting)) refuse('lacks_rights', { what: 'own_proposal' })
      /** Ends the proposal if its change is out of date, or was approved and then refused. */
      const end = (isApproved: boolean) => async (error: unknown) => {
        if (!(error instanceof Refused)) throw error
        const isOutdated = outdated.has(error.code)
        if (isOutdated || isApproved)
          await part(asStale).write(approval, { type: 'Refuse', id, number, member, stale: true })
        if (isOutdated) refuse('stale')
        throw error
      }
      const requireMakeable = async () => requireAllowed(waiting, await requireCurrent(handler, waiting), services)
      // also where it was approved before, and a process was killed: things have changed since
      await requireMakeable().catch(async (error: unknown) => {
        // one that is in the log is only brought to its end
        if (!(await isMade(handler, waiting, of))) await end(false)(error)
      })
      const command = { type: 'Approve', id, number, member, note: body.note } as const
      await storeApproval(handler, of, async () => write(approval, command))
      const approved = { proposal: number, member, role: sender?.role ?? ('owner' as const) }
      const context = {
        account: id,
        actor: { ...waiting.actor, approved },
        command: commandOf(id, number),
        at: new Date().toISOString(),
      }
      await apply(
        waiting.decider,
        waiting.command,
        context,
        waiting.kind === approval.kind ? undefined : waiting.revision,
      ).catch(end(true))
      await part(asMade).write(approval, { type: 'Apply', id, number })
      return { message: 'The change has been approved and made.' }
    },
  })

const refuseProposal = ({ handler }: ApprovalServices) =>
  endpoint(approvalContract, 'POST /api/proposal/:id/refuse', {
    scope: 'write',
    limited: true,
    params: byId,
    body: Note,
    run: async (call) => {
      const { account: id, body, params, write } = call
      const waiting = await waitingProposal(handler, id, params.id)
      await requireSeen(call, waiting)
      const { member } = senderOf(call)
      const isOwn = await isSender(call, waiting.member)
      if (!isOwn) await requireApprover(call, waiting)
      const number = params.id
      const unmade = isOwn ? undefined : await abandoned(handler, waiting, { account: id, number })
      await write(approval, { type: 'Refuse', id, number, member, note: body.note, own: isOwn, unmade })
      return { message: isOwn ? 'The proposal has been withdrawn.' : 'The proposal has been refused.' }
    },
  })

export const decisionRoutes = (services: ApprovalServices): readonly Route[] => [
  approve(services),
  refuseProposal(services),
]
