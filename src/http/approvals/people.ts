import { account as accounts } from '../../commands/accounts/account.ts'
import type { Handler } from '../../commands/handle.ts'
import { ownMember } from '../../events/accounts/team.ts'
import type { Event } from '../../events/index.ts'
import { findAccount } from '../../queries/accounts/account.ts'
import { memberName, namesOfMembers } from '../../queries/accounts/member.ts'
import { personsOf } from '../../queries/accounts/persons.ts'
import type { Reader } from '../../queries/reader.ts'
import { senderOf } from '../accounts/invitation.ts'
import type { Call } from '../api/route.ts'

/** Returns what members are called, by their numbers. */
export const namesIn = async (reader: Reader, account: number, numbers: readonly number[]) => {
  const names = await namesOfMembers(
    reader,
    [...new Set(numbers)].map((number) => ({ account, number })),
  )
  const own = numbers.includes(ownMember) ? await findAccount(reader, account) : undefined
  return (number: number) => ({
    id: number,
    name: (number === ownMember ? own?.username : names.get(memberName(account, number))) ?? '',
  })
}

/** Returns the owner to whom an account went when its own sign-in ended; undefined: it has not. */
const heirOfSignIn = async ({ steps }: Pick<Handler, 'steps'>, account: number) => {
  for await (const { event } of steps(accounts, account))
    if (event.type === 'AccountSignInEnded') return (event as unknown as Event<'AccountSignInEnded'>).data.member
  return undefined
}

/**
 * Returns whether a caller is who a member is or was: numbers do not tell, because who leaves and joins again has
 * another one.
 */
export const isSender = async (
  call: Pick<Call, 'account' | 'reader' | 'member' | 'key'>,
  handler: Pick<Handler, 'steps'>,
  member: number,
): Promise<boolean> => {
  const { account, reader } = call
  const { member: sender } = senderOf(call)
  if (member === sender) return true
  const persons = await personsOf(reader, account, [member, sender])
  const [theirs, own] = [persons.get(member), persons.get(sender)]
  if (theirs !== undefined) return theirs === own
  const heir = member === ownMember ? await heirOfSignIn(handler, account) : undefined
  return heir !== undefined && isSender(call, handler, heir)
}
