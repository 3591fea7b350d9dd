import { randomUUID } from 'node:crypto'
import { type Connection, migrate, openDatabase } from '../../src/postgres/database.ts'
import { ensureCheckpoints } from '../../src/projections/tables.ts'
import { administer, server } from './server.ts'

/** Creates a database on the PostgreSQL of this process: an empty one, or a copy of another that is not in use. */
export const freshDatabase = async (template?: Connection): Promise<Connection> => {
  const connection = await server()
  const database = `t_${randomUUID().replaceAll('-', '')}`
  // PostgreSQL's default writes each page to the WAL, which takes twice the processor time
  await administer(`create database ${database} template ${template?.database ?? 'template1'} strategy file_copy`)
  return { ...connection, database }
}

let migrated: Promise<Connection> | undefined
/** Creates a database with the schemas that a service starts with: a copy, because the migrations take longer than the tests of a store. */
export const migratedDatabase = async (): Promise<Connection> => {
  migrated ??= (async () => {
    const connection = await freshDatabase()
    const db = openDatabase(connection, {
      name: 'migrate',
      max: 2,
      timeout: 30_000,
      patience: 20_000,
      onError: () => {},
    })
    await migrate(db)
    await ensureCheckpoints(db)
    await db.destroy()
    return connection
  })()
  return freshDatabase(await migrated)
}
