import type { Database } from './database.ts'

/** A mail that was not handed over to the mail server yet. */
export interface StoredMail {
  readonly id: number
  readonly account: number | null
  readonly sealed: Buffer
  /** how often it was taken, this time included */
  readonly tries: number
  /** seconds since it was stored */
  readonly age: number
}

const table = 'state.mails'

export const insertMail = async (db: Database, account: number | null, sealed: Buffer): Promise<void> => {
  await db(table).insert({ account, sealed })
}

/**
 * Takes mails that are due. For `seconds`, no other process takes them; then they are due again, unless they were
 * deleted or postponed.
 */
export const takeMails = async (db: Database, limit: number, seconds: number): Promise<readonly StoredMail[]> => {
  const { rows } = await db.raw<{
    rows: { id: string; account: string | null; sealed: Buffer; tries: number; age: number }[]
  }>(
    `update ${table} set tries = tries + 1, due_at = now() + make_interval(secs => :seconds)
     where id in (select id from ${table} where due_at <= now() order by due_at limit :limit for update skip locked)
     returning id, account, sealed, tries, extract(epoch from now() - created_at)::float8 as age`,
    { limit, seconds },
  )
  return rows.map(({ id, account, ...row }) => ({
    ...row,
    id: Number(id),
    account: account === null ? null : Number(account),
  }))
}

/** Stores what a mail says once it is known. Returns false when the mail was deleted meanwhile. */
export const replaceMail = async (db: Database, id: number, account: number | null, sealed: Buffer): Promise<boolean> =>
  (await db(table).where({ id }).update({ account, sealed })) > 0

export const postponeMail = async (db: Database, id: number, seconds: number): Promise<void> => {
  await db.raw(`update ${table} set due_at = now() + make_interval(secs => ?) where id = ?`, [seconds, id])
}

export const deleteMail = async (db: Database, id: number): Promise<void> => {
  await db(table).where({ id }).delete()
}

/** Deletes the mails of accounts: they contain personal data. */
export const eraseMails = async (db: Database, accounts: readonly number[]): Promise<void> => {
  await db(table).whereIn('account', accounts).delete()
}

export const countMails = async (db: Database): Promise<number> => {
  const [row] = await db(table).count<{ count: string }[]>()
  return Number(row?.count ?? 0)
}
