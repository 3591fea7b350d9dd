import type { Reader } from '../reader.ts'

/** Returns accounts whose erasure is due, up to `limit`. */
export const dueErasures = async ({ db, table }: Reader, now: Date, limit: number): Promise<readonly number[]> => {
  const rows = (await db(table('accounts')).where('erases', '<=', now).orderBy('erases').limit(limit).select('id')) as {
    id: string
  }[]
  return rows.map(({ id }) => Number(id))
}
