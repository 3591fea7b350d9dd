import type { Database } from './database.ts'

/** What reads the groups of a person again. */
export interface GroupRead {
  readonly account: number
  /** the token of the identity that has signed in */
  readonly credential: string
  /** the refresh token, sealed; empty: there is none, and the next sign-in reads them */
  readonly sealed: string
  /** its address as the settings have it; null: it is not known */
  readonly issuer: string | null
  /** what of its answers had the groups, separated by spaces */
  readonly sources: string
}

const table = 'state.group_reads'
const columns = 'account, credential, sealed, issuer, sources'
const typed = (row: GroupRead): GroupRead => ({ ...row, account: Number(row.account) })

/** Stores what reads groups again. `isKnown`: they were just read, or somebody has just signed in. */
export const keepRead = async (db: Database, read: GroupRead, isKnown: boolean): Promise<void> => {
  await db.raw(
    `insert into ${table} as r (${columns}) values (:account, :credential, :sealed, :issuer, :sources)
     on conflict (account) do update
     set credential = excluded.credential, sealed = excluded.sealed, issuer = excluded.issuer, sources = excluded.sources,
       tried_at = now(), failed_at = null, read_at = case when :isKnown then now() else r.read_at end`,
    { ...read, isKnown },
  )
}

/** Returns what reads the groups of a person, and notes that it is tried: once in so many seconds, by one process. */
export const tryRead = async (db: Database, account: number, seconds: number): Promise<GroupRead | undefined> => {
  const { rows } = await db.raw<{ rows: GroupRead[] }>(
    `update ${table} set tried_at = now() where account = :account and tried_at < now() - make_interval(secs => :seconds)
       and sealed <> ''
     returning ${columns}`,
    { account, seconds },
  )
  return rows[0] && typed(rows[0])
}

export const noteFailedRead = async (db: Database, account: number): Promise<void> => {
  await db.raw(`update ${table} set failed_at = coalesce(failed_at, now()) where account = ?`, [account])
}

/**
 * Notes that groups of other issuers cannot be read, and those of this one, in any of its spellings, can. Returns how
 * many cannot since now.
 */
export const noteOtherIssuers = async (db: Database, spellings: readonly string[]): Promise<number> => {
  await db.raw(`update ${table} set failed_at = null where issuer = any(?) and sealed = '' and failed_at is not null`, [
    [...spellings],
  ])
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `update ${table} set failed_at = now() where issuer <> all(?) and failed_at is null`,
    [[...spellings]],
  )
  return rowCount
}

/** Notes that nothing reads the groups of people, where nothing does. */
export const noteUnread = async (db: Database, accounts: readonly number[]): Promise<void> => {
  await db.raw(
    `insert into ${table} (account, credential, sealed, failed_at) select unnest(?::bigint[]), '', '', now()
     on conflict do nothing`,
    [[...accounts]],
  )
}

/**
 * Returns the people whose groups could not be read for so many seconds, or were not said for so many by a sign-in or
 * anything else.
 */
export const overdueReads = (db: Database, seconds: number, sinceSignIn: number): Promise<readonly number[]> =>
  accountsIn(
    db,
    `failed_at < now() - make_interval(secs => :seconds) or read_at < now() - make_interval(secs => :sinceSignIn)`,
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
