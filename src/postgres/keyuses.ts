import QuickLRU from 'quick-lru'
import { batch } from '../lib/async/batch.ts'
import type { Database } from './database.ts'

/** ms between two writes of a process about the same key */
const interval = 60_000

/**
 * Returns a function that notes the use of an API key in `state.key_uses`. It never waits: a request does not depend on
 * it, and a note that cannot be written is lost.
 */
export const openKeyUses = (db: Database) => {
  const noted = new QuickLRU<string, true>({ maxSize: 10_000, maxAge: interval })
  const write = batch<string, void>(500, async (keys) => {
    await db.raw(
      `insert into state.key_uses as u (key, used_at) select key, now() from unnest(?::text[]) as key
       on conflict (key) do update set used_at = excluded.used_at`,
      [[...keys]],
    )
    return keys.map(() => undefined)
  })
  return (key: string) => {
    if (noted.has(key)) return
    noted.set(key, true)
    write(key).catch(() => noted.delete(key))
  }
}
