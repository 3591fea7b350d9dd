import { z } from 'zod'
import { account } from '../../commands/accounts/account.ts'
import type { Team } from '../../commands/accounts/roster.ts'
import { isShut } from '../../commands/accounts/state.ts'
import { team } from '../../commands/accounts/team.ts'
import { approval } from '../../commands/approvals/approval.ts'
import { requireOwn } from '../../commands/caller.ts'
import { isRefused, refuse } from '../../commands/decider.ts'
import { domain } from '../../commands/domains/domain.ts'
import type { Load } from '../../commands/load.ts'
import { isLimitedToOwn, rightsOf } from '../../events/accounts/role.ts'
import { hasRules } from '../../events/approvals/rules.ts'
import { says } from '../../lib/fields.ts'
import { domainIds } from '../accounts/invitation.ts'
import { failField } from '../api/errors.ts'
import { flag } from '../api/fields.ts'
import { type Call, endpoint, type Route } from '../api/route.ts'
import { tagList } from '../links/tag.ts'
import { approvalContract } from './contract.ts'

const mostRules = 100
const Rules = z.object({
  tags: tagList.refine((tags) => tags.length <= mostRules, says('too_many', { max: mostRules })).default([]),
  domains: domainIds(mostRules).default([]),
  live: flag.default(false),
})

/** Whether fewer than two people who can sign in could approve a change of anything. */
const isAlone = async (load: Load, { members, isTeam }: Team): Promise<boolean> => {
  let found = isTeam ? 0 : 1
  for (const { role, person, domains } of Object.values(members)) {
    const mayApprove = domains === undefined && !isLimitedToOwn(role) && rightsOf(role).includes('write')
    if (person === null || !mayApprove || isShut((await load(account, person)).state)) continue
    found++
    if (found === 2) return false
  }
  return true
}

/**
 * Returns the domains of new rules. Fails unless they are the account's. One that the rules name already may be deleted
 * meanwhile: it stays until it is left out, and counts again once it is restored.
 */
const domainsOf = async (call: Pick<Call, 'account' | 'load'>, given: readonly number[]) => {
  const { rules } = (await call.load(approval, call.account)).state
  for (const id of given.filter((one) => one !== 0 && !rules.domains.includes(one)))
    await requireOwn(call, domain, id).catch((error: unknown) => {
      if (!isRefused(error, 'not_found')) throw error
      failField('domains', 'not_yours', { what: 'domains', id })
    })
  return [...new Set(given)].toSorted((a, b) => a - b)
}

const setRules = endpoint(approvalContract, 'PUT /api/account/approval', {
  scope: 'account',
  body: Rules,
  run: async (call) => {
    const { account: id, body, load, write } = call
    const rules = { ...body, domains: await domainsOf(call, body.domains), tags: body.tags.toSorted() }
    if (hasRules(rules) && (await isAlone(load, (await load(team, id)).state)))
      refuse('lacks_rights', { what: 'alone' })
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
