import type { Database } from './database.ts'

const [joins, users] = ['state.directory_joins', 'state.directory_users']

/**
 * Notes which account a person signs in to, which stays in the reach of their directory. Returns whether they are
 * active, undefined when it was known.
 */
export const joinAccount = async (db: Database, person: Buffer, account: number): Promise<boolean | undefined> => {
  const { rows } = (await db.raw(
    `with joined as (
      insert into ${joins} (person, account) select person, :account from ${users} where person = :person
      on conflict do nothing
    )
    update ${users} set account = :account where person = :person and account is distinct from :account
    returning active`,
    { person, account },
  )) as { readonly rows: readonly { readonly active: boolean }[] }
  return rows[0]?.active
}

/** Notes that of somebody whom no directory has sent yet. */
export const noteJoin = async (db: Database, person: Buffer, account: number): Promise<void> => {
  await db(joins).insert({ person, account }).onConflict().ignore()
}

/** Returns the accounts that a person has signed in to. */
export const accountsJoined = async (db: Database, person: Buffer): Promise<readonly number[]> =>
  (await db(joins).where({ person }).orderBy('account').pluck<string[]>('account')).map(Number)

/** Whether the directories have ended the access of none of the people who have signed in to an account. */
export const isAccountActive = async (db: Database, account: number): Promise<boolean> => {
  const ended = await db({ j: joins })
    .join({ u: users }, 'u.person', 'j.person')
    .where({ 'j.account': account, 'u.active': false })
    .limit(1)
    .pluck('u.id')
  return ended.length === 0
}

/** Whether a user has signed in to an account, in SQL. */
export const hasJoins = `exists (select from ${joins} j where j.person = directory_users.person)`

/** Takes accounts out of the reach of directories, or of one person there. */
export const partAccounts = async (db: Database, accounts: readonly number[], person?: Buffer): Promise<void> => {
  const all = db(joins).whereIn('account', accounts)
  await (person === undefined ? all : all.where({ person })).delete()
}
