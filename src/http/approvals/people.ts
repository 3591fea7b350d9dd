import { account as accounts } from '../../commands/accounts/account.ts'
import { personOf } from '../../commands/accounts/roster.ts'
import { team } from '../../commands/accounts/team.ts'
import type { Handler } from '../../commands/handle.ts'
import { ownMember } from '../../events/accounts/team.ts'
import type { Event } from '../../events/index.ts'
import { findAccount } from '../../queries/accounts/account.ts'
import { memberName, namesOfMembers } from '../../queries/accounts/member.ts'
import type { Reader } from '../../queries/reader.ts'
import { senderOf } from '../accounts/invitation.ts'
import type { Call } from '../api/route.ts'
import type { Waiting } from './proposed.ts'

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

type Asker = Pick<Call, 'account' | 'load' | 'member' | 'key'>
type Log = Pick<Handler, 'steps'>

/** Returns whether a caller is who a member is or was, by the log: read tables may lag. */
export const isSender = async (call: Asker, member: number): Promise<boolean> => {
  const { account } = call
  const { member: sender } = senderOf(call)
  const { state } = await call.load(team, account)
  const person = personOf(state, account, member)
  return member === sender || (person !== undefined && person === personOf(state, account, sender))
}

/** Returns the member who has made a key, and those who have got it since: each may know its secret. */
const holdersOf = async (
  { account, load }: Pick<Call, 'account' | 'load'>,
  { steps }: Log,
  key: string | undefined,
): Promise<readonly number[]> => {
  let maker: number | undefined
  for await (const { event } of steps(accounts, account)) {
    if (event.type !== 'ApiKeyAddedByMember') continue
    const { data } = event as unknown as Event<'ApiKeyAddedByMember'>
    if (data.key === key) maker = data.member
  }
  if (maker === undefined) return []
  const { heirs } = (await load(team, account)).state
  const holders: number[] = []
  for (let one: number | undefined = maker; one !== undefined; one = heirs[one]) holders.push(one)
  return holders
}

/** Returns whether a caller has proposed a change, or may have: by a key that they know. */
export const isProposer = async (
  call: Asker,
  handler: Log,
  { member, actor }: Pick<Waiting, 'member' | 'actor'>,
): Promise<boolean> => {
  const holders = actor.kind === 'key' ? await holdersOf(call, handler, actor.key) : []
  for (const one of new Set([member, ...holders])) if (await isSender(call, one)) return true
  return false
}
