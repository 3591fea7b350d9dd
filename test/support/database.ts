import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { Connection } from '../../src/postgres/database.ts'
import { server } from './server.ts'

/** Creates an empty database on the PostgreSQL of this process. */
export const freshDatabase = async (): Promise<Connection> => {
  const connection = await server()
  const database = `t_${randomUUID().replaceAll('-', '')}`
  const client = new pg.Client(connection)
  await client.connect()
  await client.query(`create database ${database}`)
  await client.end()
  return { ...connection, database }
}
