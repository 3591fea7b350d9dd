import type { Database } from './database.ts'

/** The data to read the groups of a person again. */
export interface GroupRead {
  readonly account: number
  /** the token of the identity that signed in */
  readonly credential: string
  /** the refresh token, sealed; empty: none, and the groups are read at the next sign-in */
  readonly sealed: string
  /** its address in the settings; null: unknown */
  readonly issuer: string | null
  /** the responses that had the groups, separated by spaces */
  readonly sources: string
}

const table = 'state.group_reads'
const columns = 'account, credential, sealed, issuer, sources'
const typed = (row: GroupRead): GroupRead => ({ ...row, account: Number(row.account) })

/** Stores the data to read groups again. `isKnown`: the groups have just been read, at a sign-in or later. */
export const keepRead = async (db: Database, read: GroupRead, isKnown: boolean): Promise<void> => {
  await db.raw(
    `insert into ${table} as r (${columns}) values (:account, :credential, :sealed, :issuer, :sources)
     on conflict (account) do update
     set credential = excluded.credential, sealed = excluded.sealed, issuer = excluded.issuer, sources = excluded.sources,
       tried_at = now(), failed_at = null, read_at = case when :isKnown then now() else r.read_at end`,
    { ...read, isKnown },
  )
}

/**
 * Returns the data to read the groups of a person, and records the attempt: one in so many seconds, across processes.
 */
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
 * Records that groups of other issuers cannot be read, and that groups of this issuer, in any of its spellings, can.
 * Returns the number of people whose groups have just become unreadable.
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

/** Records that the groups of people cannot be read, where no data to read them is stored. */
export const noteUnread = async (db: Database, accounts: readonly number[]): Promise<void> => {
  await db.raw(
    `insert into ${table} (account, credential, sealed, failed_at) select unnest(?::bigint[]), '', '', now()
     on conflict do nothing`,
    [[...accounts]],
  )
}

/**
 * Returns the people whose groups could not be read for so many seconds, or were not sent for so many at a sign-in or
 * otherwise.
 */
export const overdueReads = (db: Database, seconds: number, sinceSignIn: number): Promise<readonly number[]> =>
  accountsIn(
    db,
    `failed_at < now() - make_interval(secs => :seconds) or read_at < now() - make_interval(secs => :sinceSignIn)`,
    { seconds, sinceSignIn },
  )

/** Returns the people whose groups were not read for so many seconds, because only their keys are used. */
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
