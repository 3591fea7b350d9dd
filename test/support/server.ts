import { execFile } from 'node:child_process'
import { appendFile, mkdir, mkdtemp, readFile, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { type EmbeddedConnection, type EmbeddedPostgres, startEmbedded } from '../../src/postgres/embedded.ts'

interface Server extends EmbeddedPostgres {
  /** one connection for all statements that create a database */
  readonly admin: pg.Client
}
let started: Promise<Server> | undefined

const start = async (): Promise<Server> => {
  if (process.env['UNIT'] === '1')
    throw new Error('`npm run test:unit` has no PostgreSQL: name a spec that needs one *.flow.spec.ts')
  const folder = process.env['LINKLEDGER_TEST_DIR'] ?? (await mkdtemp(join(tmpdir(), 'linkledger-test-')))
  const dir = await mkdtemp(join(folder, 'server-'))
  await promisify(execFile)('cp', ['-a', join(await sharedCluster(folder), 'postgres'), dir])
  const server = await startEmbedded({ dir, log: () => {} })
  const admin = new pg.Client(server.connection)
  // the server may end first
  admin.on('error', () => {})
  await admin.connect()
  return {
    ...server,
    admin,
    stop: async () => {
      await admin.end()
      await server.stop()
    },
  }
}

/** Creates a cluster in a folder, and stops it. */
const createCluster = async (dir: string) => {
  await (await startEmbedded({ dir, log: () => {} })).stop()
  await saveWork(join(dir, 'postgres', 'data'))
}

/**
 * Returns a folder with a cluster that is not in use. The first process of a run creates it, because that takes a
 * second of a processor.
 */
const sharedCluster = async (folder: string): Promise<string> => {
  const dir = join(folder, 'cluster')
  const outcome = join(folder, 'cluster-outcome')
  const isFirst = (await mkdir(dir, { recursive: true })) !== undefined
  if (isFirst) {
    const problem = await createCluster(dir).catch(String)
    await writeFile(`${outcome}.new`, problem ?? '')
    await rename(`${outcome}.new`, outcome)
  }
  for (;;) {
    const problem = await readFile(outcome, 'utf8').catch(() => undefined)
    if (problem) throw new Error(`the PostgreSQL of the tests could not be created: ${problem}`)
    if (problem === '') return dir
    await sleep(50)
  }
}

/**
 * These databases do not outlive the run, so PostgreSQL neither waits for the disk nor vacuums them: with a database
 * for each test, autovacuum would start a process every few hundred milliseconds.
 */
const saveWork = async (data: string) => {
  // a login takes as long as the rest of a connection, so only one to a database of this name needs a password
  const logins = ['local guarded all scram-sha-256', 'local all linkledger trust']
  await writeFile(join(data, 'pg_hba.conf'), logins.join('\n') + '\n')
  await appendFile(
    join(data, 'postgresql.auto.conf'),
    'fsync = off\nfull_page_writes = off\nsynchronous_commit = off\nautovacuum = off\nwal_level = minimal\nmax_wal_senders = 0\n',
  )
}

const running = () => (started ??= start())

/**
 * Returns the one embedded PostgreSQL of this process, which the first test that needs it starts. It ends with the
 * process.
 */
export const server = async (): Promise<EmbeddedConnection> => (await running()).connection

/** Runs a statement about whole databases: `create database`. */
export const administer = async <R extends object>(sql: string, values: readonly unknown[] = []): Promise<R[]> => {
  const { admin } = await running()
  return (await admin.query<R>(sql, [...values])).rows
}

export const stopServer = async () => (await started?.catch(() => undefined))?.stop()
