import { randomUUID } from 'node:crypto'
import { type Connection, openDatabase } from '../../src/postgres/database.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { ensureCheckpoints } from '../../src/projections/engine/tables.ts'
import { administer, server } from './server.ts'

/** the databases that a spec has created, without those that are copied */
const created = new Set<string>()

/** Creates a database on the PostgreSQL of this process: an empty one, or a copy of another that is not in use. */
export const freshDatabase = async (template?: Connection): Promise<Connection> => {
  const connection = await server()
  const database = `t_${randomUUID().replaceAll('-', '')}`
  // PostgreSQL's default writes each page to the WAL, which takes twice the processor time
  await administer(`create database ${database} template ${template?.database ?? 'template1'} strategy file_copy`)
  created.add(database)
  if (template?.database !== undefined) created.delete(template.database)
  return { ...connection, database }
}

/** Drops the databases that specs have left, but none that something still uses. */
export const dropDatabases = async () => {
  if (created.size === 0) return
  const unused = await administer<{ readonly datname: string }>(
    `select datname from pg_database d
      where datname = any($1) and not exists (select from pg_stat_activity a where a.datname = d.datname)`,
    [[...created]],
  )
  created.clear()
  // one that a spec still connects to stays until the end of the run
  for (const { datname } of unused) await administer(`drop database ${datname}`).catch(() => {})
}

let migrated: Promise<Connection> | undefined
/**
 * Creates a database with the schemas that a service starts with: a copy, because the migrations take longer than the
 * tests of a store.
 */
export const migratedDatabase = async (): Promise<Connection> => {
  migrated ??= (async () => {
    const connection = await freshDatabase()
    const db = openDatabase(connection, {
      name: 'migrate',
      max: 2,
      timeout: 30_000,
      timeoutMs: 20_000,
      onError: () => {},
    })
    await migrate(db)
    await ensureCheckpoints(db)
    await db.destroy()
    return connection
  })()
  return freshDatabase(await migrated)
}
