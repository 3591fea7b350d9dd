import { account as accounts } from '../../commands/accounts/account.ts'
import { isShut } from '../../commands/accounts/state.ts'
import { team } from '../../commands/accounts/team.ts'
import { listMemberships } from '../../queries/accounts/member.ts'
import type { Ledger } from '../log/ledger.ts'

/** Returns the team accounts that a person owns and none of whose owners may sign in. */
const ownerlessBy = async ({ handler, reader }: Pick<Ledger, 'handler' | 'reader'>, person: number) => {
  const isOut = async (id: number) => isShut((await handler.load(accounts, id)).state)
  const found: number[] = []
  for (const { account, role, team: isTeam } of await listMemberships(reader, person)) {
    if (!isTeam || role !== 'owner') continue
    const { members } = (await handler.load(team, account)).state
    let isLeft = false
    for (const one of Object.values(members))
      if (one.role === 'owner' && one.person !== null) isLeft ||= !(await isOut(one.person))
    if (!isLeft) found.push(account)
  }
  return found
}

/** Logs which team accounts have no owner who can act once the access of a person has ended. */
export const warnOfOwnerless = async (
  { log, ...ledger }: Pick<Ledger, 'handler' | 'log' | 'reader'>,
  person: number,
): Promise<void> => {
  for (const account of await ownerlessBy(ledger, person))
    log.warn(
      { account, owner: person },
      'a directory has ended the access of the last owner of a team account: `linkledger account owner` makes another one',
    )
}
