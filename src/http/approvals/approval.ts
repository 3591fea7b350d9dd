import { z } from 'zod'
import { refuse, Refused } from '../../commands/decider.ts'
import { hasRules } from '../../events/approvals/rules.ts'
import { kindOf } from '../../events/kinds.ts'
import { says, timestamp } from '../../lib/fields.ts'
import { findProposal, findRules, type ListedProposal, listProposals } from '../../queries/approvals/approval.ts'
import { senderOf } from '../accounts/invitation.ts'
import { byId } from '../api/fields.ts'
import { list, ownedQuery } from '../api/list/list.ts'
import { endpoint, type Route } from '../api/route.ts'
import { origin } from '../links/address.ts'
import { approvalContract, proposals, statuses } from './contract.ts'
import { type ApprovalServices, decisionRoutes } from './decisions.ts'
import { ruleRoutes } from './rules.ts'
import { isProposer, isSender, namesIn } from './people.ts'
import { changesOf, deciderOf, effectOf, waitingProposal } from './proposed.ts'
import { requireSeen } from './seen.ts'

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

export const approvalRoutes = (services: ApprovalServices): readonly Route[] => [
  ...ruleRoutes,
  listed,
  single(services),
  ...decisionRoutes(services),
]
