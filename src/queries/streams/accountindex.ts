import type { Reader } from '../reader.ts'

/** The indexes of what an account has in the log. */
export const indexes = { events: 'account_events', clicks: 'account_clicks' } as const
export type IndexName = keyof typeof indexes

/** Where an event is in the log. */
export interface Entry {
  readonly position: bigint
  readonly stream: string
  readonly revision: bigint
}

interface Wanted {
  readonly account: number
  /** position of the first entry */
  readonly from: bigint
  readonly limit: number
}

/** Returns the next entries of an account in log order. */
export const entriesOf = async (
  { db, table }: Reader,
  index: IndexName,
  { account, from, limit }: Wanted,
): Promise<readonly Entry[]> => {
  const rows: { position: string; stream: string; revision: string }[] = await db(table(indexes[index]))
    .where({ account })
    .where('position', '>=', from.toString())
    .orderBy('position')
    .limit(limit)
    .select('position', 'stream', 'revision')
  return rows.map(({ position, stream, revision }) => ({
    position: BigInt(position),
    stream,
    revision: BigInt(revision),
  }))
}

/** Returns the position of the newest entry of all accounts; 0n when there is none. All entries before it are there. */
export const newestEntry = async ({ db, table }: Reader, index: IndexName): Promise<bigint> => {
  const { rows } = await db.raw<{ rows: { newest: string | null }[] }>(
    `select max(position) as newest from ${table(indexes[index])}`,
  )
  return BigInt(rows[0]?.newest ?? 0)
}

/** Returns the accounts that have entries after a position, and the position of the newest one. */
export const changedAfter = async (
  { db, table }: Reader,
  index: IndexName,
  after: bigint,
): Promise<{ readonly accounts: readonly number[]; readonly newest: bigint }> => {
  const { rows } = await db.raw<{ rows: { account: string; newest: string }[] }>(
    `select account, max(position) as newest from ${table(indexes[index])} where position > ? group by account`,
    [after.toString()],
  )
  return {
    accounts: rows.map(({ account }) => Number(account)),
    newest: rows.map(({ newest }) => BigInt(newest)).reduce((a, b) => (a > b ? a : b), after),
  }
}
