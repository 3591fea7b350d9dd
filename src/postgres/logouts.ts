import type { Database } from './database.ts'

/** Notes that a logout token is used. Returns false when it was before. */
export const insertLogout = async (db: Database, token: Buffer, seconds: number): Promise<boolean> => {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `insert into state.logouts (token, expires_at) values (?, now() + make_interval(secs => ?)) on conflict do nothing`,
    [token, seconds],
  )
  return rowCount > 0
}

export const deleteExpiredLogouts = async (db: Database): Promise<void> => {
  await db('state.logouts').whereRaw('expires_at <= now()').delete()
}

/** Notes what a logout has ended, by keyed hashes, unless its token is used. */
export const noteLogouts = async (
  db: Database,
  token: Buffer,
  ended: readonly Buffer[],
  seconds: number,
): Promise<void> => {
  await db.raw(
    `insert into state.logouts (token, expires_at)
     select ended, now() + make_interval(secs => :seconds) from unnest(:ended::bytea[]) ended
     where not exists (select from state.logouts where token = :token)
     on conflict (token) do update set expires_at = excluded.expires_at`,
    { token, ended: [...ended], seconds },
  )
}

/** Whether one of these was noted in so many seconds, or one of those since a moment. */
export const isNoted = async (
  db: Database,
  of: { readonly ever: readonly Buffer[]; readonly since: readonly Buffer[] },
  since: Date,
  seconds: number,
): Promise<boolean> => {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `select from state.logouts where expires_at > now() and (token = any(:ever) or (token = any(:later)
       and expires_at - make_interval(secs => :seconds) >= :since)) limit 1`,
    { ever: [...of.ever], later: [...of.since], since, seconds },
  )
  return rows.length > 0
}

/** Returns the time of the database, which notes are compared with. */
export const clockOf = async (db: Database): Promise<Date> => {
  const { rows } = await db.raw<{ rows: { at: Date }[] }>('select clock_timestamp() as at')
  return rows[0]?.at ?? new Date()
}
