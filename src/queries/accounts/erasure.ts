import type { Reader } from '../reader.ts'
import { ownsTeamAlone } from './owner.ts'

/**
 * Returns accounts whose erasure is due, up to `limit`. That of the last owner of a team account waits for another
 * owner: two may have asked for it at the same moment.
 */
export const dueErasures = async ({ db, table }: Reader, now: Date, limit: number): Promise<readonly number[]> => {
  const rows = (await db({ a: table('accounts') })
    .where('a.erases', '<=', now)
    .whereRaw(`not ${ownsTeamAlone(table)}`)
    .orderBy('a.erases')
    .limit(limit)
    .select('a.id')) as { id: string }[]
  return rows.map(({ id }) => Number(id))
}

/** Returns what erased people still are in accounts of others, up to `limit`. */
export const membershipsOfErased = async ({ db, table }: Reader, limit: number) => {
  const rows = (await db({ p: table('accounts') })
    .join({ m: table('members') }, 'm.person', 'p.id')
    .where({ 'p.status': 'erased', 'm.status': 'active' })
    .limit(limit)
    .select('m.account', 'm.number')) as { account: string; number: string }[]
  return rows.map((row) => ({ account: Number(row.account), member: Number(row.number) }))
}

/** Returns erased accounts of which the files of the database may still have something, and when they were erased. */
export const erasedInTables = async ({ db, table }: Reader, limit: number) => {
  const rows = (await db(table('accounts'))
    .where({ status: 'erased', erased_on_disk: null })
    .orderBy('id')
    .limit(limit)
    .select('id', 'position')) as { id: string; position: string }[]
  return rows.map(({ id, position }) => ({ id: Number(id), position: BigInt(position) }))
}

/** Returns when files of the database were last cleared of erased accounts, undefined before that. */
export const lastErasedOnDisk = async ({ db, table }: Reader): Promise<Date | undefined> =>
  ((await db(table('accounts')).max('erased_on_disk as last')) as { last: Date | null }[])[0]?.last ?? undefined
