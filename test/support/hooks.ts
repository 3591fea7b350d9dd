import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBuild } from './build.ts'
import { dropDatabases } from './database.ts'
import { closeSharedImages } from './images.ts'
import { stopServer } from './server.ts'
import { calibrate, expectShortTurns } from './turns.ts'

let removeBuild = async () => {}

/** bytes that must be free for databases in memory: each has 14 MB, and the WAL of each process some hundred */
const roomy = 8 * 2 ** 30

/**
 * Returns where databases are cheapest. Each has about a thousand files, and some file systems search long for a free
 * place for each: ext4 without a journal does while many files were deleted in the last minutes, as by an earlier run.
 */
const cheapestFolder = async (): Promise<string> => {
  const memory = '/dev/shm'
  const free = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  )
  return Math.min(free, process.availableMemory()) >= roomy ? memory : tmpdir()
}

/** Makes the folder for everything that a run leaves behind. The processes that mocha starts inherit its name. */
export const mochaGlobalSetup = async () => {
  calibrate()
  process.env['LINKLEDGER_TEST_DIR'] = await mkdtemp(join(await cheapestFolder(), 'linkledger-test-'))
  // unit tests start no process of the program
  if (process.env['UNIT'] !== '1') removeBuild = await startBuild()
}

/** With `--parallel`, these run after each file. */
export const mochaHooks = { afterEach: expectShortTurns, afterAll: dropDatabases }

export const mochaGlobalTeardown = async () => {
  await closeSharedImages()
  await stopServer()
  await removeBuild()
  await rm(process.env['LINKLEDGER_TEST_DIR']!, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
}
