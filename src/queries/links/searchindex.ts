import { schemaOfTrigrams } from '../../postgres/trigrams.ts'
import { linkText } from './link.ts'
import type { Reader } from '../reader.ts'

/** The session lock of the process that builds the index. */
const buildLock = 7275466

/** A build that was interrupted leaves an index behind that is not valid. */
const isValid = async ({ db }: Reader, index: string) => {
  const { rows } = await db.raw<{ rows: { valid: boolean }[] }>(
    'select indisvalid as valid from pg_index where indexrelid = to_regclass(?)',
    [index],
  )
  return rows[0]?.valid
}

/**
 * Builds the index for `q` on the links that are live now, if there is none. Writing is not held up meanwhile. It is no
 * part of the projection: filling a table with it takes three times as long, and the extension may be missing. The
 * connection must be the only one of its pool, because it holds a lock. Returns whether it has built the index.
 */
export const buildSearchIndex = async (reader: Reader): Promise<boolean> => {
  const { db, table } = reader
  const links = table('links')
  const index = `${links}_search`
  const schema = await schemaOfTrigrams(db)
  if (schema === undefined || (await isValid(reader, index))) return false
  const { rows } = await db.raw<{ rows: { free: boolean }[] }>('select pg_try_advisory_lock(?) as free', [buildLock])
  if (!rows[0]?.free) return false
  try {
    await db.raw(`drop index concurrently if exists ${index}`)
    // a short list of pending entries: each search reads all of it
    await db.raw(
      `create index concurrently ${index.replace(/^.*\./, '')} on ${links} using gin (${linkText} ${schema}.gin_trgm_ops)
         with (gin_pending_list_limit = 512) where deleted is null`,
    )
    return true
  } finally {
    await db.raw('select pg_advisory_unlock(?)', [buildLock])
  }
}
