import { setTimeout as sleep } from 'node:timers/promises'
import { scanOffset } from '../../projections/statistics/clickfacts.ts'
import type { Reader } from '../reader.ts'

/**
 * Returns the reclassification that has to be undone before a part of the given one, if it is one of the account. Parts
 * are compared and not whole ones: those of two may lie between one another, and one of them has the newest of all.
 */
export const newerReclassification = async (
  { db, table }: Reader,
  id: string,
  { account, part }: { readonly account: number; readonly part: number },
): Promise<string | undefined> => {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `select n.id from ${table('reclassifications')} r join ${table('reclassifications')} n
       on n.account = r.account and n.id <> r.id and n.position > r.position and n.undone is null
     where r.id = ? and r.part = ? and r.account = ? order by n.position desc limit 1`,
    [id, part, account],
  )
  return rows[0]?.id
}

/** Returns the position of the log up to which the statistics have it. */
export const statisticsPosition = async ({ db }: Pick<Reader, 'db'>): Promise<bigint> => {
  const [position] = (await db('read.checkpoints')
    .where({ projection: 'stats', live: true })
    .orderByRaw('version desc, generation desc')
    .limit(1)
    .pluck('position')) as string[]
  return BigInt(position ?? 0)
}

/** Waits until the statistics have passed a position. Resolves false at `until` of `performance.now()`. */
export const awaitStatistics = async (
  reader: Pick<Reader, 'db'>,
  position: bigint,
  until: number,
): Promise<boolean> => {
  for (; (await statisticsPosition(reader)) < position; await sleep(50)) if (performance.now() >= until) return false
  return true
}

/** A reclassification that was made. */
export interface Made {
  readonly id: string
  readonly account: number
  readonly at: Date
  readonly rules: number
  readonly visits: number
  readonly undone: boolean
}
/** Returns SQL of how many visits a part has changed, in a row `r`. */
const visitsOf = ({ table }: Pick<Reader, 'table'>) =>
  `(select count(*) from ${table('corrections')} k
    where k.position = r.position and k.seq % 1000 < ${scanOffset} and greatest(k.was, 0) <> greatest(k.now, 0))`

/** Returns how many visits a reclassification has changed, without the parts that were taken back. */
export const visitsLeft = async (reader: Reader, id: string): Promise<number> => {
  const { rows } = await reader.db.raw<{ rows: { visits: string | null }[] }>(
    `select sum(${visitsOf(reader)}) as visits from ${reader.table('reclassifications')} r where id = ? and undone is null`,
    [id],
  )
  return Number(rows[0]?.visits ?? 0)
}

/**
 * Returns the reclassifications of an account, or of all, newest first. A part that was taken back before the
 * reclassification went on, repeated under its Idempotency-Key, does not count: other parts have its visits.
 */
export const listReclassifications = async (reader: Reader, account?: number): Promise<readonly Made[]> => {
  const { db, table } = reader
  const repeated = `exists (select from ${table('reclassifications')} n where n.id = r.id and n.position > r.undone)`
  const { rows } = await db.raw<{ rows: (Omit<Made, 'account' | 'visits'> & { account: string; visits: string })[] }>(
    `select id, account, min(at) as at, max(rules) as rules, bool_and(undone is not null) as undone,
       sum(case when ${repeated} then 0 else ${visitsOf(reader)} end) as visits
     from ${table('reclassifications')} r ${account === undefined ? '' : 'where account = ?'}
     group by id, account order by max(position) desc limit 100`,
    account === undefined ? [] : [account],
  )
  return rows.map((row) => ({ ...row, account: Number(row.account), visits: Number(row.visits) }))
}

/** Returns whether visits of an account have had other classes. */
export const wasReclassified = async ({ db, table, clicksUpTo }: Reader, account: number): Promise<boolean> => {
  const { rows } = await db.raw<{ rows: { found: boolean }[] }>(
    `select exists (select from ${table('reclassifications')} where account = ? and position <= ?) as found`,
    [account, (clicksUpTo ?? 2n ** 63n - 1n).toString()],
  )
  return rows[0]?.found ?? false
}

/** Returns the accounts that have clicks. */
export const clickedAccounts = async ({ db, table }: Reader): Promise<readonly number[]> => {
  return ((await db(table('account_stats')).orderBy('account').pluck('account')) as string[]).map(Number)
}
/** Returns the account that a link's clicks are counted for. */
export const accountOfLink = async ({ db, table }: Reader, link: number): Promise<number | undefined> => {
  const [account]: string[] = await db(table('link_stats')).where({ link }).pluck('account')
  return account === undefined ? undefined : Number(account)
}
/** Returns the first account with clicks after another one; undefined when there is none. */
export const nextClickedAccount = async ({ db, table }: Reader, after: number): Promise<number | undefined> => {
  const found: string[] = await db(table('account_stats'))
    .where('account', '>', after)
    .orderBy('account')
    .limit(1)
    .pluck('account')
  return found[0] === undefined ? undefined : Number(found[0])
}
/** Returns how many accounts have clicks, and how many of them come up to one. */
export const countClickedAccounts = async ({ db, table }: Reader, upTo: number) => {
  const { rows } = await db.raw<{ rows: { of: string; done: string }[] }>(
    `select count(*) as of, count(*) filter (where account <= ?) as done from ${table('account_stats')}`,
    [upTo],
  )
  return { of: Number(rows[0]?.of ?? 0), done: Number(rows[0]?.done ?? 0) }
}
