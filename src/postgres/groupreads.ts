import type { Database } from './database.ts'

/** What reads the groups of a person again. */
export interface GroupRead {
  readonly account: number
  /** the token of the identity that has signed in */
  readonly credential: string
  /** the refresh token, sealed; empty: there is none, and the next sign-in reads them */
  readonly sealed: string
}

const table = 'state.group_reads'
const typed = ({ account, credential, sealed }: GroupRead): GroupRead => ({
  account: Number(account),
  credential,
  sealed,
})

/** Stores what reads groups again that were just read. */
export const keepRead = async (db: Database, read: GroupRead): Promise<void> => {
  await db.raw(
    `insert into ${table} as r (account, credential, sealed) values (:account, :credential, :sealed)
     on conflict (account) do update
     set credential = excluded.credential, sealed = excluded.sealed, tried_at = now(), failed_at = null`,
    { ...read },
  )
}

/** Returns what reads the groups of a person, and notes that it is tried: once in so many seconds, by one process. */
export const tryRead = async (db: Database, account: number, seconds: number): Promise<GroupRead | undefined> => {
  const { rows } = await db.raw<{ rows: GroupRead[] }>(
    `update ${table} set tried_at = now() where account = :account and tried_at < now() - make_interval(secs => :seconds)
       and sealed <> ''
     returning account, credential, sealed`,
    { account, seconds },
  )
  return rows[0] && typed(rows[0])
}

export const noteFailedRead = async (db: Database, account: number): Promise<void> => {
  await db.raw(`update ${table} set failed_at = coalesce(failed_at, now()) where account = ?`, [account])
}

/**
 * Returns the people whose groups could not be read for so many seconds, or have not signed in for so many where that
 * alone reads them.
 */
export const overdueReads = (db: Database, seconds: number, sinceSignIn: number): Promise<readonly number[]> =>
  accountsIn(
    db,
    `failed_at < now() - make_interval(secs => :seconds)
     or (sealed = '' and tried_at < now() - make_interval(secs => :sinceSignIn))`,
    { seconds, sinceSignIn },
  )

/** Returns the people whose groups nobody has read for so many seconds, because only their keys are used. */
export const unusedReads = (db: Database, seconds: number): Promise<readonly number[]> =>
  accountsIn(db, `sealed <> '' and tried_at < now() - make_interval(secs => :seconds)`, { seconds })

const accountsIn = async (db: Database, where: string, values: Readonly<Record<string, number>>) => {
  const { rows } = await db.raw<{ rows: { account: string }[] }>(
    `select account from ${table} where ${where} order by account limit 1000`,
    values,
  )
  return rows.map(({ account }) => Number(account))
}

export const deleteReads = async (db: Database, accounts: readonly number[]): Promise<void> => {
  await db(table).whereIn('account', accounts).delete()
}
