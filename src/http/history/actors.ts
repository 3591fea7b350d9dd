import type { Metadata } from '../../events/event.ts'
import { memberName, namesOfMembers } from '../../queries/accounts/member.ts'
import { namesOfKeys } from '../../queries/history/history.ts'
import type { Reader } from '../../queries/reader.ts'

/**
 * Who caused an event. Of a key, its id and its name; of a member, their name, which is empty once they are erased, and
 * their role of then. The name of an operator is not for accounts.
 */
export interface PresentedActor {
  readonly kind: string
  readonly key?: number
  readonly name?: string
  readonly member?: PresentedMember
  readonly approved_by?: PresentedMember & { readonly proposal: number }
}
interface PresentedMember {
  readonly id: number
  readonly name: string
  readonly role: string
}

/** Who caused an event, and in which account. */
export type Acting = Pick<Metadata, 'actor' | 'account'>
export const actingOf = ({ metadata: { actor, account } }: { readonly metadata: Metadata }): Acting => ({
  actor,
  account,
})

/** Returns the names of the members among those who acted. */
export const membersOf = (reader: Reader, acting: readonly Acting[]) => {
  const members = acting.flatMap(({ actor: { member, approved }, account }) =>
    [member, approved?.member].flatMap((number) =>
      number === undefined ? [] : ([[memberName(account, number), { account, number }]] as const),
    ),
  )
  return namesOfMembers(reader, [...new Map(members).values()])
}

/** Returns what keys and members are called: keys by their public ids. */
export const namesOfActors = async (reader: Reader, acting: readonly Acting[]) => {
  const keys = new Set(acting.flatMap(({ actor }) => actor.key ?? []))
  const [ofKeys, members] = await Promise.all([namesOfKeys(reader, [...keys]), membersOf(reader, acting)])
  return { keys: ofKeys, members }
}
type Names = Awaited<ReturnType<typeof namesOfActors>>

/** Returns which member caused an event, and who has approved it. */
export const memberIn = ({ actor, account }: Acting, { members }: Pick<Names, 'members'>) => {
  const { member, role = '', approved } = actor
  const named = (id: number, held: string) => ({ id, name: members.get(memberName(account, id)) ?? '', role: held })
  return {
    ...(member !== undefined && { member: named(member, role) }),
    ...(approved && { approved_by: { ...named(approved.member, approved.role), proposal: approved.proposal } }),
  }
}

/** Returns who caused an event. */
export const actorOf = (acting: Acting, names: Names): PresentedActor => {
  const { kind, key } = acting.actor
  const known = key === undefined ? undefined : names.keys.get(key)
  return { kind, ...(known && { key: known.number, name: known.name }), ...memberIn(acting, names) }
}

/** The same for an operator. */
export const operatorsOf: typeof actorOf = (acting, names) => ({
  ...actorOf(acting, names),
  ...(acting.actor.name === undefined ? {} : { name: acting.actor.name }),
})
