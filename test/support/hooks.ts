import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBuild } from './build.ts'
import { stopServer } from './server.ts'

let clean = async () => {}

/** All that a run leaves behind lies here; the processes that mocha starts inherit its name. */
export const mochaGlobalSetup = async () => {
  process.env['LINKLEDGER_TEST_DIR'] = await mkdtemp(join(tmpdir(), 'linkledger-test-'))
  clean = await startBuild()
}

export const mochaGlobalTeardown = async () => {
  await stopServer()
  await clean()
  await rm(process.env['LINKLEDGER_TEST_DIR']!, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
}
