import { z } from 'zod'
import { approval, type ApprovalCommand } from '../../commands/approvals/approval.ts'
import { type CommandOf, isRefused, refuse, Refused } from '../../commands/decider.ts'
import type { Handler } from '../../commands/handle.ts'
import type { ApprovalEvent } from '../../events/approvals/approval.ts'
import { text } from '../../lib/fields.ts'
import { senderOf } from '../accounts/invitation.ts'
import { fail } from '../api/errors.ts'
import { byId } from '../api/fields.ts'
import { endpoint, type Call, type Route } from '../api/route.ts'
import { type ChangeChecks, requireAllowed } from './allowed.ts'
import { approvalContract } from './contract.ts'
import { abandoned, commandOf, isMade, type Of, storeApproval } from './made.ts'
import { isProposer, isSender } from './people.ts'
import { proposalIn, requireCurrent, type Waiting, waitingProposal } from './proposed.ts'
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

type Decided = Pick<CommandOf<ApprovalCommand, 'Approve'>, 'member' | 'note'>

/** Returns a pending proposal; undefined when a repeated request may have ended it. Throws `Refused` (`not_found`). */
const waitingIn = async (handler: Handler, { account, number }: Of, { resumed }: Pick<Call, 'resumed'>) =>
  waitingProposal(handler, account, number).catch((error: unknown) => {
    if (!resumed || !isRefused(error, 'not_found')) throw error
    return undefined
  })

/** Refusals of a change whose resource has changed since the proposal. */
const outdated: ReadonlySet<string> = new Set(['changed', 'not_found', 'stale'])

/**
 * The parts of a request that end a proposal, besides the approval itself: a repeated request must not take the one for
 * the other.
 */
const [asMade, asStale] = [1, 2]

const hasApproved = { message: 'The change has been approved and made.' }

/**
 * Answers a repeated request for an approval whose proposal does not wait any more, as its earlier execution has or
 * would have. Throws `Refused`: `not_found` for any other request.
 */
const answerAgain = async (handler: Handler, of: Of, { part, write }: Pick<Call, 'part' | 'write'>, asked: Decided) => {
  const { account: id, number } = of
  const earlier = await write(approval, { type: 'Approve', id, number, ...asked }).catch((error: unknown) => {
    if (!isRefused(error, 'not_found')) throw error
  })
  if (earlier && (await isMade(handler, await proposalIn(handler, earlier.state, of), of))) return hasApproved
  await part(asStale).write(approval, { type: 'Refuse', id, number, member: asked.member, stale: true })
  return refuse('stale')
}

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
      const { member } = senderOf(call)
      const asked = { member, note: body.note }
      const waiting = await waitingIn(handler, of, call)
      if (!waiting) return answerAgain(handler, of, call, asked)
      await requireSeen(call, waiting)
      await requireApprover(call, waiting)
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
      const command = { type: 'Approve', id, number, ...asked } as const
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
      return hasApproved
    },
  })

const hasRefused = (events: readonly ApprovalEvent[]) => {
  const isOwn = events.some(({ type, data }) => type === 'ChangeRefused' && data.why === 'withdrawn')
  return { message: isOwn ? 'The proposal has been withdrawn.' : 'The proposal has been refused.' }
}

const refuseProposal = ({ handler }: ApprovalServices) =>
  endpoint(approvalContract, 'POST /api/proposal/:id/refuse', {
    scope: 'write',
    limited: true,
    params: byId,
    body: Note,
    run: async (call) => {
      const { account: id, body, params, write } = call
      const number = params.id
      const { member } = senderOf(call)
      const command = { type: 'Refuse', id, number, member, note: body.note } as const
      const waiting = await waitingIn(handler, { account: id, number }, call)
      // what this request has refused before
      if (!waiting) return hasRefused((await write(approval, command)).events)
      await requireSeen(call, waiting)
      const isOwn = await isSender(call, waiting.member)
      if (!isOwn) await requireApprover(call, waiting)
      const unmade = isOwn ? undefined : await abandoned(handler, waiting, { account: id, number })
      return hasRefused((await write(approval, { ...command, own: isOwn, unmade })).events)
    },
  })

export const decisionRoutes = (services: ApprovalServices): readonly Route[] => [
  approve(services),
  refuseProposal(services),
]
