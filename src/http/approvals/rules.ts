import { z } from 'zod'
import type { Team } from '../../commands/accounts/roster.ts'
import { team } from '../../commands/accounts/team.ts'
import { approval } from '../../commands/approvals/approval.ts'
import { refuse } from '../../commands/decider.ts'
import { isLimitedToOwn, rightsOf } from '../../events/accounts/role.ts'
import { hasRules } from '../../events/approvals/rules.ts'
import { says } from '../../lib/fields.ts'
import { domainIds, ownDomains } from '../accounts/invitation.ts'
import { flag } from '../api/fields.ts'
import { endpoint, type Route } from '../api/route.ts'
import { tagList } from '../links/tag.ts'
import { approvalContract } from './contract.ts'

const mostRules = 100
const Rules = z.object({
  tags: tagList.refine((tags) => tags.length <= mostRules, says('too_many', { max: mostRules })).default([]),
  domains: domainIds.max(mostRules, says('too_many', { max: mostRules })).default([]),
  live: flag.default(false),
})

/** How many people could approve a change of anything. */
const approversIn = ({ members, isTeam }: Team) =>
  (isTeam ? 0 : 1) +
  Object.values(members).filter(
    ({ role, person, domains }) =>
      person !== null && domains === undefined && !isLimitedToOwn(role) && rightsOf(role).includes('write'),
  ).length

const setRules = endpoint(approvalContract, 'PUT /api/account/approval', {
  scope: 'account',
  body: Rules,
  run: async (call) => {
    const { account: id, body, load, write } = call
    const domains = [...new Set(await ownDomains(call, body.domains))].toSorted((a, b) => a - b)
    const rules = { ...body, domains, tags: body.tags.toSorted() }
    if (hasRules(rules) && approversIn((await load(team, id)).state) < 2) refuse('lacks_rights', { what: 'alone' })
    await write(approval, { type: 'SetRules', id, rules })
    return { message: 'The rules have been changed.' }
  },
})

const readRules = endpoint(approvalContract, 'GET /api/account/approval', {
  scope: ['account', 'audit'],
  nowOnly: 'approvals',
  run: async ({ account, load }) => ({ data: { ...(await load(approval, account)).state.rules } }),
})

export const ruleRoutes: readonly Route[] = [readRules, setRules]
