import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Context } from 'mocha'
import { skip } from './skip.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

/** Unpacks the package of a release, and installs what its own lock file names. */
const install = async (version: string, folder: string) => {
  const stored = join(root, 'test/releases/programs', version)
  await mkdir(join(folder, '..'), { recursive: true })
  const dir = await mkdtemp(`${folder}-`)
  try {
    await run('tar', ['xzf', join(stored, `linkledger-${version}.tgz`), '--strip-components=1', '-C', dir])
    await cp(join(stored, 'package-lock.json'), join(dir, 'package-lock.json'))
    const options = ['--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
    await run('npm', ['ci', ...options], { cwd: dir, timeout: 300_000 })
    // another process may have been faster
    await rename(dir, folder).catch(() => {})
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/** Returns the program of a release, installed with its own libraries in `.cache`. */
export const programOf = async (version: string): Promise<string> => {
  const folder = join(root, '.cache/programs', version)
  if (!existsSync(folder)) await install(version, folder)
  return join(folder, 'bin/linkledger.js')
}

/** Returns the program of a release. Skips the test where its libraries cannot be fetched, unless it is required. */
export const oldProgram = async (context: Context, version: string): Promise<string> =>
  programOf(version).catch((error: unknown) => {
    if (process.env['REQUIRE_OLD_PROGRAM'] === '1') throw error
    const [reason] = String(error).trim().split('\n').slice(-1)
    return skip(
      context,
      `the libraries of release ${version} cannot be installed (${reason})`,
      'connect to the npm registry',
    )
  })
