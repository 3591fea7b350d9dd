import type { Database } from './database.ts'

const keys = 'state.directory_keys'
export const insertDirectoryKey = async (db: Database, issuer: string, hash: Buffer): Promise<number> => {
  const [row] = (await db(keys).insert({ issuer, hash }).returning('id')) as { id: string }[]
  return Number(row?.id)
}
export const listDirectoryKeys = (db: Database): Promise<readonly { id: string; issuer: string; created: Date }[]> =>
  db(keys).orderBy('id').select('id', 'issuer', { created: 'created_at' })
/** Ends a key. Returns whether there was one. */
export const deleteDirectoryKey = async (db: Database, id: number): Promise<boolean> =>
  (await db(keys).where({ id }).delete()) > 0
/** Returns the issuer of a key. */
export const issuerOfKey = async (db: Database, hash: Buffer): Promise<string | undefined> =>
  ((await db(keys).where({ hash }).select('issuer')) as { issuer: string }[])[0]?.issuer
