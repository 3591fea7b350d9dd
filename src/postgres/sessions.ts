import type { Knex } from 'knex'
import type { Database } from './database.ts'

/** A stored session of the dashboard. */
export interface StoredSession {
  readonly id: number
  readonly account: number
  readonly credential: Buffer
  readonly browser: string
  readonly os: string
  readonly created: Date
  readonly used: Date
  readonly expires: Date
  /** whether its password was entered, or its sign-in repeated, in the last ten minutes */
  readonly confirmed: boolean
}
export interface NewSession extends Pick<
  StoredSession,
  'id' | 'account' | 'credential' | 'browser' | 'os' | 'confirmed'
> {
  readonly hash: Buffer
  /** the session at the issuer that opened it */
  readonly issuerSession: Buffer | null
  /** until it expires */
  readonly seconds: number
}

const table = 'state.sessions'
const columns = `id, account, credential, browser, os, created_at as created, used_at as used, expires_at as expires,
  coalesce(confirmed_at > now() - interval '10 minutes', false) as confirmed`
const typed = (row: StoredSession): StoredSession => ({ ...row, id: Number(row.id), account: Number(row.account) })

/** Stores a session. The oldest of more than `most` end. */
export const insertSession = async (db: Database, session: NewSession, most: number): Promise<void> => {
  await db.raw(
    `insert into ${table} (id, hash, account, credential, browser, os, issuer_session, confirmed_at, expires_at)
     values (:id, :hash, :account, :credential, :browser, :os, :issuerSession, case when :confirmed then now() end, now() + make_interval(secs => :seconds))`,
    { ...session },
  )
  await db.raw(
    `delete from ${table} where id in (select id from ${table} where account = ? order by created_at desc, id desc offset ?)`,
    [session.account, most],
  )
}

export const findSession = async (db: Database, hash: Buffer): Promise<StoredSession | undefined> => {
  const { rows } = await db.raw<{ rows: StoredSession[] }>(
    `select ${columns} from ${table} where hash = ? and expires_at > now()`,
    [hash],
  )
  return rows[0] && typed(rows[0])
}

/** Records that a session is used, at most once a minute. */
export const touchSession = async (db: Database, id: number): Promise<void> => {
  await db.raw(`update ${table} set used_at = now() where id = ? and used_at < now() - interval '1 minute'`, [id])
}

/** Returns the sessions of an account, newest first. */
export const sessionsOf = async (db: Database, account: number): Promise<readonly StoredSession[]> => {
  const { rows } = await db.raw<{ rows: StoredSession[] }>(
    `select ${columns} from ${table} where account = ? and expires_at > now() order by created_at desc, id desc`,
    [account],
  )
  return rows.map(typed)
}

/** Deletes a session. Returns whether it existed. */
export const deleteSession = async (db: Database, account: number, id: number): Promise<boolean> =>
  (await db(table).where({ account, id }).delete()) > 0

/** Ends the background jobs that sessions have requested: of accounts, or of some sessions. */
const endJobs = (db: Database, of: 'account' | 'session', ids: readonly number[]) =>
  db('state.reclassify_jobs')
    .where({ ended: null })
    .whereRaw(`(actor->>?)::bigint = any(?)`, [of, [...ids]])
    .update({ actor: db.raw(`actor || '{"password": ""}'`) })

/** Deletes a session, and ends the background jobs that it has requested. Returns whether it existed. */
export const throwSessionOut = async (db: Database, account: number, id: number): Promise<boolean> => {
  const has = await deleteSession(db, account, id)
  if (has) await endJobs(db, 'session', [id])
  return has
}

/** Deletes the sessions of accounts, except one, and ends the background jobs of all of them. */
export const deleteSessionsOf = async (db: Database, accounts: readonly number[], except = 0): Promise<void> => {
  await db(table).whereIn('account', accounts).whereNot({ id: except }).delete()
  await endJobs(db, 'account', accounts)
}

/** Records that a session has entered its password again, or that its person has signed in again at the issuer. */
export const confirmSession = async (db: Database, id: number, issuerSession: Buffer | null): Promise<void> => {
  await db.raw(
    `update ${table} set confirmed_at = now(), issuer_session = coalesce(:issuerSession, issuer_session) where id = :id`,
    { id, issuerSession },
  )
}

/** Replaces the credential of a session, if it still has the former one. */
export const setCredential = async (db: Database, id: number, before: Buffer, credential: Buffer): Promise<void> => {
  await db(table).where({ id, credential: before }).update({ credential })
}

/** Identifies the sessions that a credential has opened. */
export interface OpenedBy {
  readonly account: number
  readonly credential: Buffer
}

const deleteWhere = async (db: Database, sought: (all: Knex.QueryBuilder) => Knex.QueryBuilder) => {
  const ended = (await sought(db(table)).delete('id')) as { id: string }[]
  await endJobs(
    db,
    'session',
    ended.map(({ id }) => Number(id)),
  )
}

/** Deletes the sessions of an account that a credential has opened. */
export const deleteSessionsBy = (db: Database, opened: OpenedBy): Promise<void> =>
  deleteWhere(db, (all) => all.where({ ...opened }))

/**
 * Deletes the sessions that a session at the issuer opened, and sessions of the person for which the issuer named none.
 */
export const deleteSessionsOfIssuer = (db: Database, issuerSession: Buffer, opened?: OpenedBy): Promise<void> =>
  deleteWhere(db, (all) => {
    const those = all.where({ issuer_session: issuerSession })
    return opened ? those.orWhere({ ...opened, issuer_session: null }) : those
  })

export const deleteExpiredSessions = async (db: Database): Promise<void> => {
  await db(table).whereRaw('expires_at <= now()').delete()
}

/** Records the time step of a used code. Returns false when that step, or a later one, was used before. */
export const useStep = async (db: Database, account: number, step: number): Promise<boolean> => {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `insert into state.second_factor_steps as s (account, step) values (?, ?)
     on conflict (account) do update set step = excluded.step where s.step < excluded.step`,
    [account, step],
  )
  return rowCount > 0
}
