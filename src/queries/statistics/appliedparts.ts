import { setTimeout as sleep } from 'node:timers/promises'
import type { Reader } from '../reader.ts'

/** ms between two looks at what is applied */
const interval = 50

/**
 * Waits until a part is applied, or undone. Resolves false when that has not happened by `until`, in ms of
 * `performance.now()`.
 */
export const awaitPart = async (
  { db, table }: Reader,
  { id, part, undone = false }: { readonly id: string; readonly part: number; readonly undone?: boolean },
  until: number,
): Promise<boolean> => {
  const sql = `select 1 from ${table('reclassifications')} where id = ? and part = ? and (undone is not null) = ?`
  for (;;) {
    const { rows } = await db.raw<{ rows: unknown[] }>(sql, [id, part, undone])
    if (rows.length > 0) return true
    if (performance.now() >= until) return false
    await sleep(interval)
  }
}
