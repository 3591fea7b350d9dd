import type { Database } from './database.ts'

const [joins, held, users] = ['state.directory_joins', 'state.directory_held', 'state.directory_users']

/**
 * Stores the account that a person signs in to, so that it remains subject to the directories' users of that person.
 * Returns whether they are active, undefined when the account was stored before.
 */
export const joinAccount = async (
  db: Database,
  persons: readonly Buffer[],
  account: number,
): Promise<boolean | undefined> => {
  const { rows } = (await db.raw(
    `with noted as (
      insert into ${held} (user_id, account) select id, :account from ${users} where person = any(:persons)
      on conflict do nothing
    )
    update ${users} set account = :account where person = any(:persons) and account is distinct from :account
    returning active`,
    { persons: [...persons], account },
  )) as { readonly rows: readonly { readonly active: boolean }[] }
  return rows.length === 0 ? undefined : rows.every(({ active }) => active)
}

/** Stores the account of a person whom no directory has sent yet. */
export const noteJoin = async (db: Database, person: Buffer, account: number): Promise<void> => {
  await db(joins).insert({ person, account }).onConflict().ignore()
}

/** Gives a user accounts to hold: those that the person has signed in to before, and others. */
export const holdAccounts = async (
  db: Database,
  user: string,
  persons: readonly Buffer[],
  others: readonly number[],
): Promise<void> => {
  await db.raw(
    `insert into ${held} (user_id, account)
    select :user::uuid, account from ${joins} where person = any(:persons)
    union select :user::uuid, account from unnest(:others::bigint[]) as other (account)
    on conflict do nothing`,
    { user, persons: [...persons], others: [...others] },
  )
}

/** Returns the accounts that users hold. */
export const accountsHeld = async (db: Database, ids: readonly string[]): Promise<readonly number[]> =>
  (await db(held).whereIn('user_id', ids).distinct('account').orderBy('account').pluck<string[]>('account')).map(Number)

/** Whether no directory has ended the access of a user who holds an account. */
export const isAccountActive = async (db: Database, account: number): Promise<boolean> => {
  const ended = await db({ h: held })
    .join({ u: users }, 'u.id', 'h.user_id')
    .where({ 'h.account': account, 'u.active': false })
    .limit(1)
    .pluck('u.id')
  return ended.length === 0
}

/** Detaches accounts from directories, or from one person there. */
export const partAccounts = async (
  db: Database,
  accounts: readonly number[],
  persons?: readonly Buffer[],
): Promise<void> => {
  const [noted, own] = [db(joins).whereIn('account', accounts), db(held).whereIn('account', accounts)]
  if (persons === undefined) {
    await noted.delete()
    await own.delete()
  } else {
    await noted.whereIn('person', persons).delete()
    await own.whereIn('user_id', db(users).whereIn('person', persons).select('id')).delete()
  }
}

/**
 * Deletes what directories have sent about the people of erased accounts. The id of a user and a keyed hash stay:
 * active or not, the user counts for the account that the person makes next, until the directory deletes it.
 */
export const eraseFromDirectory = (db: Database, accounts: readonly number[]): Promise<void> =>
  db.transaction(async (tx) => {
    const holders = await tx(held).whereIn('account', accounts).distinct().pluck<string[]>('user_id')
    await tx('state.directory_people').whereIn('account', accounts).delete()
    await partAccounts(tx, accounts)
    const of = () => tx(users).where((one) => void one.whereIn('account', accounts).orWhereIn('id', holders))
    // a person who has also signed in to another account keeps that one
    await of()
      .whereNotNull('sealed')
      .whereRaw(`not exists (select from ${held} h where h.user_id = directory_users.id)`)
      .update({ sealed: '', name: null, email: null })
    await tx(users).whereIn('account', accounts).update({ account: null })
  })
