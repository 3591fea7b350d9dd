import { account as accounts } from '../../commands/accounts/account.ts'
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

/** Returns the owner to whom an account went when its own sign-in ended; undefined: it has not. */
const heirOfSignIn = async ({ steps }: Pick<Handler, 'steps'>, account: number) => {
  for await (const { event } of steps(accounts, account))
    if (event.type === 'AccountSignInEnded') return (event as unknown as Event<'AccountSignInEnded'>).data.member
  return undefined
}

/** Returns who joined an account under which number, also of those who have left: by the log, as tables may lag. */
const personsIn = async ({ steps }: Pick<Handler, 'steps'>, account: number): Promise<ReadonlyMap<number, number>> => {
  const persons = new Map<number, number>()
  for await (const { event } of steps(team, account)) {
    const { data } = event as unknown as { readonly data: { readonly member?: number; readonly person?: number } }
    if (data.member !== undefined && data.person !== undefined) persons.set(data.member, data.person)
  }
  return persons
}

type Asker = Pick<Call, 'account' | 'member' | 'key'>
type Log = Pick<Handler, 'load' | 'steps'>

/**
 * Returns whether a caller is who a member is or was: numbers do not tell, because who leaves and joins again has
 * another one.
 */
export const isSender = async (call: Asker, handler: Log, member: number): Promise<boolean> => {
  const { account } = call
  const { member: sender } = senderOf(call)
  if (member === sender) return true
  if (member === ownMember) {
    const heir = await heirOfSignIn(handler, account)
    return heir !== undefined && isSender(call, handler, heir)
  }
  const persons = await personsIn(handler, account)
  const [theirs, own] = [persons.get(member), sender === ownMember ? account : persons.get(sender)]
  return theirs !== undefined && theirs === own
}

/** Returns the member who has made a key, and those who have got it since: each may know its secret. */
const holdersOf = async (
  { load, steps }: Log,
  account: number,
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
  const holders = actor.kind === 'key' ? await holdersOf(handler, call.account, actor.key) : []
  for (const one of new Set([member, ...holders])) if (await isSender(call, handler, one)) return true
  return false
}
