import { z } from 'zod'
import type { Progress } from '../../cache/progress.ts'
import { account } from '../../commands/accounts/account.ts'
import { addTeamAccount, username } from '../../commands/accounts/register.ts'
import { heirOf, memberOf } from '../../commands/accounts/roster.ts'
import { team } from '../../commands/accounts/team.ts'
import { isTaken } from '../../commands/claims/taken.ts'
import { type Account, isShut } from '../../commands/accounts/state.ts'
import { refuse } from '../../commands/decider.ts'
import { countRevision } from '../../commands/load.ts'
import { ownMember } from '../../events/accounts/team.ts'
import { must } from '../../lib/fields.ts'
import { Behind } from '../../lib/unavailable.ts'
import { listMemberships } from '../../queries/accounts/member.ts'
import { fail, failField } from '../api/errors.ts'
import type { OneTimeLinks } from '../../security/onetimelinks.ts'
import type { Sessions } from '../../security/sessions.ts'
import { byId } from '../api/fields.ts'
import { endpoint, type Call, type Route } from '../api/route.ts'
import { type AccountServices, erasureDue, given, scheduled } from './account.ts'
import { memberContract } from './contract/member.ts'
import type { IdentityServices } from './identity.ts'
import { requireOwnSignIn } from './joiner.ts'
import type { RegisterServices } from './register.ts'

/** Dependencies of the routes of team accounts. */
export interface TeamServices
  extends
    Pick<AccountServices, 'erasure' | 'pepper' | 'stepUps'>,
    Pick<IdentityServices, 'groupRoles'>,
    Pick<RegisterServices, 'countRegistration'> {
  readonly links: Pick<OneTimeLinks, 'end'>
  readonly progress: Pick<Progress, 'wait'>
  /** whether registration is open; operators may add accounts in any case */
  readonly registers: boolean
  readonly sessions: Pick<Sessions, 'endOthers'>
}

/** ms that a handover waits for the tables */
const timeoutMs = 10_000
/** maximum number of team accounts that a person may own when they add one */
const mostTeams = 50

/** Adds a team account, with the caller as its first owner. */
const addTeam = ({ countRegistration, pepper, registers }: TeamServices) =>
  endpoint(memberContract, 'POST /api/account/add', {
    scope: [],
    person: true,
    body: z.object({ name: username }),
    run: async ({ account: person, body, create, created, from, load, may, onBehalfOf, reader, session }) => {
      if (session === undefined) return fail(400, 'not_dashboard', { what: 'session' })
      if (!registers && !may('operator')) return fail(403, 'lacks_rights', { what: 'no_registration' })
      if ((await load(account, person)).state.erases !== null) refuse('lacks_rights', { what: 'erases' })
      await requireOwnSignIn(load, person)
      const before = await created('account', account)
      const owned = (await listMemberships(reader, person)).filter((one) => one.team && one.role === 'owner')
      if (!before && owned.length >= mostTeams) refuse('too_many', { what: 'teams', max: mostTeams })
      if (!before) await countRegistration(from)
      const { id } =
        before ??
        (await addTeamAccount(pepper, body.name, (make) => create('account', account, make)).catch((error: unknown) => {
          if (isTaken(error, 'username')) failField('name', 'taken', { what: 'username' })
          throw error
        }))
      const { revision } = await load(team, id)
      const owner = onBehalfOf({ account: id, session, person, member: { number: ownMember + 1, role: 'owner' } })
      if (countRevision(revision) < 0) await owner.write(team, { type: 'Start', id, person })
      await requireOwnSignIn(load, person, () => owner.write(account, { type: 'EraseAccount', id }))
      return { id, message: 'The account has been added. You are its owner.' }
    },
  })

/** Returns the caller as an owner of a team account; `alone`: as its only member. Throws `Refused`. */
const asOwner = async (
  { account: person, load, onBehalfOf, params: { id }, session }: Call<{ readonly id: number }>,
  { alone = false } = {},
) => {
  if (session === undefined) return fail(400, 'not_dashboard', { what: 'session' })
  const { state } = await load(team, id)
  const { number, role: held } = memberOf(state, id, person) ?? refuse('not_found', { what: 'account' })
  if (!state.isTeam) refuse('lacks_rights', { what: 'own_sign_in' })
  if (held !== 'owner') fail(403, 'lacks_rights', { what: 'role', role: held })
  const people = Object.values(state.members).filter((one) => one.person !== null)
  if (alone && people.length > 1) refuse('lacks_rights', { what: 'has_members' })
  return onBehalfOf({ account: id, session, person, member: { number, role: held } })
}

const erase = ({ erasure, stepUps }: TeamServices) =>
  endpoint(memberContract, 'POST /api/membership/:id/erase', {
    scope: [],
    person: true,
    params: byId,
    body: z.object(given),
    run: async (call) => {
      const owner = await asOwner(call, { alone: true })
      await stepUps.require('erasure', call, call.body)
      const due = erasureDue(erasure)
      const { state } = await owner.write(account, { type: 'ScheduleErasure', id: call.params.id, due })
      return scheduled(state, due)
    },
  })

const keep = endpoint(memberContract, 'DELETE /api/membership/:id/erase', {
  scope: [],
  person: true,
  params: byId,
  run: async (call) => {
    const owner = await asOwner(call)
    await owner.write(account, { type: 'CancelErasure', id: call.params.id })
    return { message: 'The account will not be erased.' }
  },
})

const mayOwn = (state: Account) => state.status === 'active' && state.erases === null && !isShut(state)

/** Ends the account's own sign-in, and makes a member its owner instead. */
const handOver = ({ groupRoles, links, progress, sessions, stepUps }: TeamServices) =>
  endpoint(memberContract, 'POST /api/account/handover', {
    scope: [],
    person: true,
    ofSession: true,
    body: z.object({ member: z.int(must('wrong_type', { what: 'whole' })), ...given }),
    run: async (call) => {
      const { account: id, body, load, reader, write } = call
      const requireNoMemberships = async () => {
        if ((await listMemberships(reader, id)).length > 0) refuse('lacks_rights', { what: 'has_memberships' })
      }
      await requireNoMemberships()
      if ((await load(account, id)).state.operator) refuse('lacks_rights', { what: 'operator_account' })
      const { person } = (await load(team, id)).state.members[body.member] ?? refuse('not_found', { what: 'member' })
      // an owner who cannot sign in would lock the account
      if (person !== null && !mayOwn((await load(account, person)).state)) refuse('lacks_rights', { what: 'no_owner' })
      await stepUps.require('handover', call, body)
      // an attempt that ends here leaves both as owners, and can be repeated
      const { position, state } = await write(team, { type: 'HandOver', id, member: body.member })
      // the own sign-in joins no accounts from here on; earlier memberships are in the tables at that position
      if (!(await progress.wait(position, timeoutMs))) throw new Behind('memberships are not projected yet')
      await requireNoMemberships()
      await write(account, { type: 'EndSignIn', id, member: heirOf(state, ownMember) })
      await groupRoles?.end(id)
      await links.end(id)
      await sessions.endOthers(id, undefined)
      return { message: 'This is a team account now. Sign in as the owner that you have named.' }
    },
  })

export const teamRoutes = (services: TeamServices): readonly Route[] => [
  addTeam(services),
  handOver(services),
  erase(services),
  keep,
]
