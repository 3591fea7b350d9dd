import { appendFile, mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type EmbeddedConnection, type EmbeddedPostgres, startEmbedded } from '../../src/postgres/embedded.ts'

let started: Promise<EmbeddedPostgres> | undefined

const start = async () => {
  if (process.env['UNIT'] === '1')
    throw new Error('`npm run test:unit` has no PostgreSQL: name a spec that needs one *.flow.spec.ts')
  const dir = await mkdtemp(join(process.env['LINKLEDGER_TEST_DIR'] ?? tmpdir(), 'server-'))
  const server = await startEmbedded({ dir, log: () => {} })
  await saveWork(join(dir, 'postgres', 'data'))
  await loginFast(server.connection)
  return server
}

/**
 * These databases do not outlive the run, so PostgreSQL neither waits for the disk nor vacuums them: with a database for each test,
 * autovacuum would start a process every few hundred milliseconds.
 */
const saveWork = async (data: string) => {
  await appendFile(
    join(data, 'postgresql.auto.conf'),
    'fsync = off\nfull_page_writes = off\nsynchronous_commit = off\nautovacuum = off\n',
  )
  const postmaster = Number.parseInt(await readFile(join(data, 'postmaster.pid'), 'utf8'), 10)
  process.kill(postmaster, 'SIGHUP')
}

/** A login with a password takes each connection thousands of rounds of hashing; here it takes one. */
const loginFast = async (connection: EmbeddedConnection) => {
  const client = new pg.Client(connection)
  await client.connect()
  await client.query('set scram_iterations = 1')
  await client.query(`alter role current_user password '${connection.password}'`)
  await client.end()
}

/** Returns the one embedded PostgreSQL of this process, which the first test that needs it starts. It ends with the process. */
export const server = async (): Promise<EmbeddedConnection> => (await (started ??= start())).connection

export const stopServer = async () => (await started?.catch(() => undefined))?.stop()
