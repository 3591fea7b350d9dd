import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Connection, type EmbeddedPostgres, startEmbedded } from '../../src/postgres/embedded.ts'

let started: Promise<EmbeddedPostgres> | undefined
let folder: string | undefined

/** The one PostgreSQL of this test run: the embedded one, started by the first test that needs it. */
export const server = async (): Promise<Connection> => {
  started ??= (async () => {
    folder = await mkdtemp(join(tmpdir(), 'linkledger-test-'))
    return startEmbedded({ dir: folder, log: () => {} })
  })()
  return (await started).connection
}

export const stopServer = async () => {
  await (await started)?.stop()
  if (folder) await rm(folder, { recursive: true, force: true })
}
