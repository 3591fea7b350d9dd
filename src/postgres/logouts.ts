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
