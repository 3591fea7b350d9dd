import { z } from 'zod'
import { approval } from '../../commands/approvals/approval.ts'
import { refuse, Refused } from '../../commands/decider.ts'
import type { Handler } from '../../commands/handle.ts'
import { hasRules } from '../../events/approvals/rules.ts'
import { kindOf } from '../../events/kinds.ts'
import { says, text, timestamp } from '../../lib/fields.ts'
import { findProposal, findRules, type ListedProposal, listProposals } from '../../queries/approvals/approval.ts'
import { senderOf } from '../accounts/invitation.ts'
import { fail } from '../api/errors.ts'
import { byId } from '../api/fields.ts'
import { list, ownedQuery } from '../api/list/list.ts'
import { endpoint, type Call, type Route } from '../api/route.ts'
import { origin } from '../links/address.ts'
import { type ChangeChecks, requireAllowed } from './allowed.ts'
import { commandOf, isAbandoned, isMade } from './made.ts'
import { approvalContract, proposals, statuses } from './contract.ts'
import { ruleRoutes } from './rules.ts'
import { isProposer, isSender, namesIn } from './people.ts'
import { changesOf, deciderOf, effectOf, requireCurrent, type Waiting, waitingProposal } from './proposed.ts'
import { requireOwnChange, requireSeen } from './seen.ts'

/** Dependencies of the routes of approvals. */
export interface ApprovalServices extends ChangeChecks {
  readonly handler: Handler
}

const present = (row: ListedProposal, name: Awaited<ReturnType<typeof namesIn>>) => ({
  id: row.number,
  resource: { type: kindOf(row.kind)?.path ?? row.kind, id: row.target },
  status: row.status,
  by: name(row.member),
  date: timestamp(row.proposed),
  decided: row.decided ? timestamp(row.decided) : '',
  decider: row.decider === null ? null : name(row.decider),
  note: row.note ?? '',
})
const peopleIn = (rows: readonly ListedProposal[]) => rows.flatMap(({ member, decider }) => [member, decider ?? member])

/** A caller who sees a part of the account sees the part of proposals that `requireSeen` allows. */
const listed = endpoint(approvalContract, 'GET /api/proposals', {
  scope: 'read',
  limited: true,
  nowOnly: 'approvals',
  query: ownedQuery(proposals).extend({
    status: z.enum(statuses, says('not_one_of', { values: statuses.join(', ') })).optional(),
  }),
  run: async (call) => {
    const { account, limited, query, reader } = call
    const filter = { status: query.status, seen: limited && { by: senderOf(call).member, part: limited } }
    const page = await list(
      proposals,
      { ...call, limited: undefined },
      async (request) => {
        const { rows, ...found } = await listProposals(reader, account, filter, request)
        const name = await namesIn(reader, account, peopleIn(rows))
        return { ...found, rows: rows.map((row) => present(row, name)) }
      },
      (row) => row,
    )
    const rules = await findRules(reader, account)
    return { ...page, guarded: rules !== undefined && hasRules(rules) }
  },
})

const single = ({ handler, ...services }: ApprovalServices) =>
  endpoint(approvalContract, 'GET /api/proposal/:id', {
    scope: 'read',
    limited: true,
    nowOnly: 'approvals',
    params: byId,
    run: async (call) => {
      const { account, params, reader } = call
      const row = await findProposal(reader, account, params.id)
      if (!row) return refuse('not_found', { what: 'proposal' })
      await requireSeen(call, { ...row, decider: deciderOf(row.kind) })
      const named = present(row, await namesIn(reader, account, peopleIn([row])))
      const shown = { ...named, revision: row.revision, own: await isSender(call, row.member) }
      const none = { changes: [], deletes: false, stale: row.status === 'stale' }
      if (row.status !== 'open') return { details: { ...shown, ...none } }
      const waiting = await waitingProposal(handler, account, params.id)
      const effect = await effectOf(handler, waiting).catch((error: unknown) => {
        if (error instanceof Refused) return undefined
        throw error
      })
      if (!effect) return { details: { ...shown, ...none, stale: true } }
      const changes = changesOf(row.kind, effect, (domain) => origin({ domain }, services))
      const deletes = (effect.after as { readonly status?: string }).status === 'deleted'
      const mine = await isProposer(call, handler, waiting)
      return { details: { ...shown, own: mine, changes, deletes, stale: effect.isStale } }
    },
  })

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

const approve = ({ handler, ...services }: ApprovalServices) =>
  endpoint(approvalContract, 'POST /api/proposal/:id/approve', {
    scope: 'write',
    limited: true,
    params: byId,
    body: Note,
    run: async (call) => {
      const { account: id, apply, body, member: sender, params, write } = call
      const number = params.id
      const waiting = await waitingProposal(handler, id, number)
      await requireSeen(call, waiting)
      await requireApprover(call, waiting)
      const { member } = senderOf(call)
      if (await isProposer(call, handler, waiting)) refuse('lacks_rights', { what: 'own_proposal' })
      /** Ends the proposal if its change is out of date, or was approved and then refused. */
      const end = (isApproved: boolean) => async (error: unknown) => {
        if (!(error instanceof Refused)) throw error
        const isOutdated = outdated.has(error.code)
        if (isOutdated || isApproved) await write(approval, { type: 'Refuse', id, number, member, stale: true })
        if (isOutdated) refuse('stale')
        throw error
      }
      const requireMakeable = async () => requireAllowed(waiting, await requireCurrent(handler, waiting), services)
      // also where it was approved before, and a process was killed: things have changed since
      await requireMakeable().catch(async (error: unknown) => {
        // one that is in the log is only brought to its end
        if (!(await isMade(handler, waiting, { account: id, number }))) await end(false)(error)
      })
      await write(approval, { type: 'Approve', id, number, member, note: body.note })
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
      await write(approval, { type: 'Apply', id, number })
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
      const unmade = !isOwn && (await isAbandoned(handler, waiting, { account: id, number }))
      await write(approval, { type: 'Refuse', id, number, member, note: body.note, own: isOwn, unmade })
      return { message: isOwn ? 'The proposal has been withdrawn.' : 'The proposal has been refused.' }
    },
  })

export const approvalRoutes = (services: ApprovalServices): readonly Route[] => [
  ...ruleRoutes,
  listed,
  single(services),
  approve(services),
  refuseProposal(services),
]
