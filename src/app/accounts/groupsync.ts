import { isDeepStrictEqual } from 'node:util'
import { account as accounts } from '../../commands/accounts/account.ts'
import { team } from '../../commands/accounts/team.ts'
import { Refused } from '../../commands/decider.ts'
import { systemMetadata } from '../../events/event.ts'
import { higherRole, type Role } from '../../events/accounts/role.ts'
import { leaveDirectory } from '../../postgres/directory.ts'
import { deleteReads } from '../../postgres/groupreads.ts'
import { findAccountBy } from '../../queries/accounts/account.ts'
import { listMemberships } from '../../queries/accounts/member.ts'
import { teamsOwnedAlone } from '../../queries/accounts/owner.ts'
import type { GroupRole } from '../settings/signin.ts'
import type { Ledger } from '../log/ledger.ts'

/** What groups grant: roles in accounts, and the mark of an operator. */
export interface Given {
  readonly roles: readonly (GroupRole & { readonly role: Role })[]
  readonly operators: readonly string[]
}

/** Whether one of these groups grants anything; undefined: whether any group does. */
export const givesTo = ({ operators, roles }: Given, groups?: readonly string[]): boolean =>
  [...operators, ...roles.map(({ group }) => group)].some((one) => groups === undefined || groups.includes(one))

/** The groups of a person: those that the issuer has sent, undefined when unknown, and those of its directory. */
interface Groups {
  readonly claimed: readonly string[] | undefined
  readonly sent: readonly string[]
}

interface SyncOptions extends Pick<Ledger, 'handler' | 'log' | 'reader'>, Given {
  readonly groupsOf: (person: number) => Promise<Groups>
}

/** Returns the highest role in each account that groups grant. */
const rolesOf = async (
  groups: readonly string[],
  held: ReadonlyMap<number, unknown>,
  { log, reader, roles }: SyncOptions,
) => {
  const wanted = new Map<number, Role>()
  for (const { group, account: name, role } of roles) {
    if (!groups.includes(group)) continue
    const found = await findAccountBy(reader, name)
    if (found?.status !== 'active') log.warn({ account: name }, 'OIDC_ROLES names an account that there is not')
    // an account with a pending erasure gets no new members: their work would be erased with it
    else if (found.erases === null || held.has(found.id))
      wanted.set(found.id, higherRole(wanted.get(found.id), role) as Role)
  }
  return wanted
}

/**
 * Returns a function that grants or revokes the mark of an operator, and returns the position of the change. Without
 * known groups of the issuer, it revokes none.
 */
const openMark =
  ({ handler, log, operators }: SyncOptions) =>
  async (id: number, { claimed, sent }: Groups): Promise<bigint> => {
    const managed = [...(claimed ?? []), ...sent].some((one) => operators.includes(one))
    if (claimed === undefined && !managed && operators.length > 0) return 0n
    try {
      const command = { type: 'ManageOperator', id, managed } as const
      const { events, position, state } = await handler.handle(accounts, command, systemMetadata(id))
      if (managed && !state.marks.byGroups)
        log.warn(
          { account: id },
          'a group of OIDC_OPERATORS makes no operator of an account that an e-mail address was enough to enter',
        )
      return events.length > 0 ? position : 0n
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      log.warn({ account: id, problem: error.message }, 'the mark of OIDC_OPERATORS was refused')
      return 0n
    }
  }

/**
 * Returns a function that gives people the highest role of their groups in each account, and takes other roles away.
 * Without known groups of the issuer, it takes none. It returns the position of the last change.
 */
export const openSync = (options: SyncOptions) => {
  const { handler, log, reader } = options
  // an account whose own sign-in ends is no member of another one, even if its person signs in at that moment
  const groupsOf = async (person: number): Promise<Groups> =>
    (await handler.load(team, person)).state.isTeam ? { claimed: [], sent: [] } : options.groupsOf(person)
  const mark = openMark(options)
  const give = async (person: number, groups: Groups) => {
    const { claimed, sent } = groups
    const held = new Map((await listMemberships(reader, person, 'all')).map(({ account, role }) => [account, role]))
    const wanted = await rolesOf([...(claimed ?? []), ...sent], held, options)
    let last = 0n
    for (const id of new Set([...wanted.keys(), ...held.keys()]))
      try {
        const [of, now] = [wanted.get(id) ?? null, held.get(id)]
        const role = of !== null && claimed === undefined ? (higherRole(now, of) as Role) : of
        if (claimed === undefined && (role === null || role === now)) continue
        const isLast = now === 'owner' && (await teamsOwnedAlone(reader, person)).includes(id)
        const command = { type: 'ManageRole', id, person, role, isLast } as const
        const { events, position } = await handler.handle(team, command, systemMetadata(id))
        if (events.length > 0) last = position
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        log.warn({ account: id, problem: error.message }, 'a role of OIDC_ROLES was refused')
      }
    const marked = await mark(person, groups)
    return marked > last ? marked : last
  }
  return async (people: readonly number[]): Promise<bigint> => {
    let last = 0n
    for (const person of people)
      for (let groups = await groupsOf(person), isDone = false; !isDone;) {
        const position = await give(person, groups)
        if (position > last) last = position
        const now = await groupsOf(person)
        // of two concurrent changes, the later one may have been applied first
        isDone = isDeepStrictEqual(now, groups)
        groups = now
      }
    return last
  }
}

/**
 * Returns a function that tells whether the groups of a person may give them a role in an account. Without known groups
 * of the issuer, they may.
 */
export const openGiving =
  (options: SyncOptions) =>
  async (person: number, account: number): Promise<boolean> => {
    const { claimed, sent } = await options.groupsOf(person)
    if (claimed === undefined) return true
    return (await rolesOf([...claimed, ...sent], new Map([[account, undefined]]), options)).has(account)
  }

/** Ends all roles of a person that come from groups, for an operator. */
export const endManagedRoles = async (
  ledger: Pick<Ledger, 'db' | 'handler' | 'log' | 'reader'>,
  person: number,
): Promise<void> => {
  await leaveDirectory(ledger.db, person)
  await openSync({ ...ledger, roles: [], operators: [], groupsOf: async () => ({ claimed: [], sent: [] }) })([person])
  await deleteReads(ledger.db, [person])
}
