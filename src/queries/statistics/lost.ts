import type { Reader } from '../reader.ts'

/** Visits that were redirected, and could not be recorded because a disk was full. */
export interface Lost {
  /** when the first and the last of them were redirected */
  readonly from: Date
  readonly to: Date
  readonly visits: number
  /** whether they are of the account; else of any account of the service */
  readonly isOwn: boolean
}

const most = 100

/** Returns the losses of a time that concern an account: the newest hundred, oldest first. */
export const readLost = async (
  { db, table, upTo }: Reader,
  account: number,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<readonly Lost[]> => {
  const { rows } = await db.raw<{ rows: { account: string; visits: string; first: Date; last: Date }[] }>(
    `select account, visits, first, last from ${table('lost_clicks')}
     where account in (?, 0) and last >= ? and first < ? and position <= ?
     order by position desc, account limit ${most}`,
    [account, from, to, (upTo ?? 2n ** 63n - 1n).toString()],
  )
  return rows
    .map((row) => ({ from: row.first, to: row.last, visits: Number(row.visits), isOwn: row.account !== '0' }))
    .toReversed()
}
