import { ownMember } from '../../events/accounts/team.ts'
import type { Reader } from '../reader.ts'

/**
 * Returns the accounts that sign in as members of an account, by their numbers, also of those who have left: who joins
 * again has another number. A team account has no sign-in of its own.
 */
export const personsOf = async (
  { db, table }: Reader,
  account: number,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, number>> => {
  const rows = (await db(table('members'))
    .where({ account })
    .whereIn('number', numbers)
    .whereNotNull('person')
    .select('number', 'person')) as { readonly number: string; readonly person: string }[]
  const own = numbers.includes(ownMember)
    ? await db(table('accounts')).where({ id: account, team: false }).select('id')
    : []
  return new Map([
    ...rows.map(({ number, person }) => [Number(number), Number(person)] as const),
    ...own.map(() => [ownMember, account] as const),
  ])
}
