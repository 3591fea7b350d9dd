import type { Database } from './database.ts'

/** What reads the groups of a person again. */
export interface GroupRead {
  readonly account: number
  /** the token of the identity that has signed in */
  readonly credential: string
  /** the refresh token, sealed */
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
     returning account, credential, sealed`,
    { account, seconds },
  )
  return rows[0] && typed(rows[0])
}

export const noteFailedRead = async (db: Database, account: number): Promise<void> => {
  await db.raw(`update ${table} set failed_at = coalesce(failed_at, now()) where account = ?`, [account])
}

/** Returns the people whose groups could not be read for so many seconds. */
export const overdueReads = async (db: Database, seconds: number): Promise<readonly number[]> => {
  const { rows } = await db.raw<{ rows: { account: string }[] }>(
    `select account from ${table} where failed_at < now() - make_interval(secs => ?) order by account limit 1000`,
    [seconds],
  )
  return rows.map(({ account }) => Number(account))
}

export const deleteReads = async (db: Database, accounts: readonly number[]): Promise<void> => {
  await db(table).whereIn('account', accounts).delete()
}
