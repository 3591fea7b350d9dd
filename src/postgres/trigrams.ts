import type { Database } from './database.ts'
import { migrationLock } from './migrate.ts'

/** The extension, part of PostgreSQL, that indexes the parts of words. */
export const trigrams = 'pg_trgm'

/** Returns the schema that the extension is in, or undefined where it is not installed. */
export const schemaOfTrigrams = async (db: Database): Promise<string | undefined> => {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    'select extnamespace::regnamespace::text as name from pg_extension where extname = ?',
    [trigrams],
  )
  return rows[0]?.name
}

/** Installs the extension where that is allowed. Returns the reason where it is not. */
export const installTrigrams = async (db: Database): Promise<string | undefined> => {
  if ((await schemaOfTrigrams(db)) !== undefined) return undefined
  try {
    await db.transaction(async (tx) => {
      // processes that start together would create it twice
      await tx.raw('select pg_advisory_xact_lock(?)', [migrationLock])
      await tx.raw(`create extension if not exists ${trigrams}`)
    })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
