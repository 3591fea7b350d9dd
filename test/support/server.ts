import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Connection, type EmbeddedPostgres, startEmbedded } from '../../src/postgres/embedded.ts'

let started: Promise<EmbeddedPostgres> | undefined

/** The one PostgreSQL of this process: the embedded one, started by the first test that needs it. It ends with the process at the latest. */
export const server = async (): Promise<Connection> => {
  started ??= mkdtemp(join(process.env['LINKLEDGER_TEST_DIR'] ?? tmpdir(), 'server-')).then((dir) =>
    startEmbedded({ dir, log: () => {} }),
  )
  return (await started).connection
}

export const stopServer = async () => (await started)?.stop()
