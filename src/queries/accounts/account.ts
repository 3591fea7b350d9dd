import type { Exclusions } from '../../events/statistics/exclusions.ts'
import type { Reader } from '../reader.ts'

export interface AccountRow {
  readonly id: number
  readonly email: string | null
  readonly username: string | null
  /** whether it is a team account, which itself has no sign-in */
  readonly team: boolean
  /** null: UTC */
  readonly timezone: string | null
  readonly status: 'active' | 'disabled' | 'erased'
  readonly registered: Date
  /** when it is erased, as its owner wants it */
  readonly erases: Date | null
  readonly exclusions: Exclusions
  /** of its stream */
  readonly revision: number
}

const columns = [
  'id',
  'email',
  'username',
  'team',
  'timezone',
  'status',
  'registered',
  'erases',
  'exclusions',
  'revision',
]
const typed = (row: AccountRow): AccountRow => ({ ...row, id: Number(row.id), revision: Number(row.revision) })
const accounts = ({ db, table }: Reader) => db(table('accounts')).select(columns)

export const findAccount = async (reader: Reader, id: number) => {
  const [row] = (await accounts(reader).where({ id })) as AccountRow[]
  return row && typed(row)
}

/** What names one account; e-mail addresses and usernames in lower case. */
export type AccountName = Readonly<{ id: number } | { email: string } | { username: string }>

export const findAccountBy = async (reader: Reader, name: AccountName) => {
  const [row] = (await accounts(reader).where(name)) as AccountRow[]
  return row && typed(row)
}

/** Returns whether an account was ever made, also one that is erased by now. */
export const hasAccounts = async (reader: Reader) => (await accounts(reader).limit(1)).length > 0

export const listAccounts = async (reader: Reader) =>
  ((await accounts(reader).orderBy('id')) as AccountRow[]).map(typed)

/** Returns the ids of the accounts of which groups at the issuer make operators. */
export const managedOperators = async ({ db, table }: Reader): Promise<readonly number[]> =>
  (
    (await db({ o: table('managed_operators') })
      .join({ a: table('accounts') }, 'a.id', 'o.account')
      .whereNot('a.status', 'erased')
      .orderBy('a.id')
      .select('a.id')) as { id: string }[]
  ).map(({ id }) => Number(id))

/** Returns the ids of erased accounts: their personal data must stay unreadable. */
export const erasedAccounts = async ({ db, table }: Reader) =>
  ((await db(table('accounts')).where({ status: 'erased' }).select('id')) as { id: string }[]).map(({ id }) =>
    Number(id),
  )
