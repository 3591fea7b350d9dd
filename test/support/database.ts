import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { Connection } from '../../src/postgres/database.ts'
import { server } from './server.ts'

/** Creates a database on the PostgreSQL of this process: an empty one, or a copy of another that is not in use. */
export const freshDatabase = async (template?: Connection): Promise<Connection> => {
  const connection = await server()
  const database = `t_${randomUUID().replaceAll('-', '')}`
  const client = new pg.Client(connection)
  await client.connect()
  // PostgreSQL's default writes each page to the WAL, which takes twice the processor time
  await client.query(`create database ${database} template ${template?.database ?? 'template1'} strategy file_copy`)
  await client.end()
  return { ...connection, database }
}
