import type { Database } from './database.ts'

/** When a passkey was used last, if it was. */
export interface PasskeyUse {
  readonly number: number
  readonly used: Date | null
}

/** Notes that a challenge was answered. Returns false when it was before. */
export const insertAnswer = async (db: Database, challenge: Buffer, seconds: number): Promise<boolean> => {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `insert into state.passkey_answers (challenge, expires_at) values (?, now() + make_interval(secs => ?))
     on conflict do nothing`,
    [challenge, seconds],
  )
  return rowCount > 0
}

export const deleteExpiredAnswers = async (db: Database): Promise<void> => {
  await db('state.passkey_answers').whereRaw('expires_at <= now()').delete()
}

/** Stores the signature counter of a new passkey. */
export const insertCounter = async (db: Database, account: number, number: number, counter: number): Promise<void> => {
  await db('state.passkeys').insert({ account, number, counter }).onConflict(['account', 'number']).ignore()
}

/**
 * Notes a use of a passkey, with its signature counter. Returns false when that is not above the one before: an
 * authenticator that counts at all counts each use.
 */
export const raiseCounter = async (
  db: Database,
  account: number,
  number: number,
  counter: number,
): Promise<boolean> => {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `insert into state.passkeys as p (account, number, counter, used_at) values (?, ?, ?, now())
     on conflict (account, number) do update set counter = excluded.counter, used_at = excluded.used_at
     where p.counter < excluded.counter or (p.counter = 0 and excluded.counter = 0)`,
    [account, number, counter],
  )
  return rowCount > 0
}

export const passkeyUses = async (db: Database, account: number): Promise<readonly PasskeyUse[]> => {
  const rows = (await db('state.passkeys').where({ account }).select('number', { used: 'used_at' })) as PasskeyUse[]
  return rows.map(({ number, used }) => ({ number: Number(number), used }))
}

export const deletePasskey = async (db: Database, account: number, number: number): Promise<void> => {
  await db('state.passkeys').where({ account, number }).delete()
}

export const deletePasskeysOf = async (db: Database, accounts: readonly number[]): Promise<void> => {
  await db('state.passkeys').whereIn('account', accounts).delete()
}
