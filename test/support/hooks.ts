import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBuild } from './build.ts'
import { closeSharedImages } from './images.ts'
import { stopServer } from './server.ts'

let removeBuild = async () => {}

/** Makes the folder for everything that a run leaves behind. The processes that mocha starts inherit its name. */
export const mochaGlobalSetup = async () => {
  process.env['LINKLEDGER_TEST_DIR'] = await mkdtemp(join(tmpdir(), 'linkledger-test-'))
  // unit tests start no process of the program
  if (process.env['UNIT'] !== '1') removeBuild = await startBuild()
}

export const mochaGlobalTeardown = async () => {
  await closeSharedImages()
  await stopServer()
  await removeBuild()
  await rm(process.env['LINKLEDGER_TEST_DIR']!, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
}
