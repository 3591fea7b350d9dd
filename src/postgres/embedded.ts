import { randomBytes } from 'node:crypto'
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  rmdir,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createDataDir } from '../lib/datadir.ts'
import { lockFolder } from '../lib/folderlock.ts'
import { accountFor } from './account.ts'
import { type Account, type Binaries, env, findBinaries, run } from './binaries.ts'
import { answers, isReady, socketName } from './processes.ts'
import { onCluster, supervise } from './supervise.ts'

/** How to connect to the embedded server, in the form of pg's PoolConfig. The host is the folder of a UNIX socket. */
export interface EmbeddedConnection {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
}

export interface EmbeddedPostgres {
  readonly connection: EmbeddedConnection
  readonly stop: () => Promise<void>
}

/**
 * Starts the PostgreSQL whose cluster is in `dir`/postgres and creates the cluster if there is none. The server ends
 * with this process at the latest. When it dies earlier it is restarted: `onCrash` is called with the reason, and the
 * connection stays the same. Throws `FolderInUse` when another process uses the cluster.
 *
 *     postgres/data      the cluster
 *     postgres/socket    the only place where it listens
 *     postgres/password  created with the cluster
 *     postgres/host      while it runs: path of the socket folder
 */
export const startEmbedded = async (options: {
  dir: string
  /** memory for pages, in MB; 64 by default */
  buffers?: number
  log: (line: string) => void
  onCrash?: (why: string) => void
}): Promise<EmbeddedPostgres> => {
  const dir = resolve(options.dir)
  createDataDir(dir)
  const lock = await lockFolder(dir, 'postgres', `the database in ${dir}`)
  try {
    const home = join(dir, 'postgres')
    const account = await accountFor(home)
    const major = await readFile(join(home, 'data', 'PG_VERSION'), 'utf8').catch(ifMissing(undefined))
    const binaries = await findBinaries(dir, account, major === undefined ? undefined : Number(major))
    if (major === undefined) await create(dir, account, binaries)
    await forgetHost(home)
    const connection = await connectionOf(home, await recordHost(home))
    const server = await supervise(
      { home, bin: binaries.bin, account, buffers: options.buffers ?? 64 },
      options.log,
      options.onCrash ?? (() => {}),
    )

    const stop = async () => {
      await forgetHost(home)
      try {
        await server.stop()
      } finally {
        await lock.release()
      }
    }
    let stopped: Promise<void> | undefined
    return { connection, stop: () => (stopped ??= stop()) }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** Returns the connection to the PostgreSQL that any process has started below `dir`, or undefined when none runs. */
export const runningEmbedded = async (dir: string): Promise<EmbeddedConnection | undefined> => {
  const home = join(resolve(dir), 'postgres')
  const host = await readFile(join(home, 'host'), 'utf8').catch(ifMissing(undefined))
  const runs = host !== undefined && (await answers(host)) && (await isReady(home))
  return runs ? connectionOf(home, host) : undefined
}

const name = 'linkledger'

const connectionOf = async (home: string, host: string): Promise<EmbeddedConnection> => ({
  host,
  port: 5432,
  user: name,
  password: await readFile(join(home, 'password'), 'utf8'),
  database: name,
})

/**
 * Creates a cluster in a temporary folder and renames it when it is complete. Only one role can log in: it owns its
 * database and is not a superuser. The superuser cannot log in.
 */
const create = async (dir: string, account: Account | undefined, { bin, major }: Binaries) => {
  const leftovers = (await readdir(dir)).filter((file) => file.startsWith('postgres.new-'))
  // an initdb that outlived its parent may still write there: then the folder is removed at the next attempt
  await Promise.all(leftovers.map((file) => rm(join(dir, file), { recursive: true, force: true }).catch(() => {})))

  const home = await mkdtemp(join(dir, 'postgres.new-'))
  if (account) await chmod(home, 0o711) // traversable; data and socket have mode 0700
  const data = join(home, 'data')
  for (const folder of [data, join(home, 'socket')]) {
    await mkdir(folder, { mode: 0o700 })
    if (account) await chown(folder, account.uid, account.gid)
  }
  const locale = ['--encoding=UTF8', '--locale=C']
  // lower() and ILIKE then handle all of Unicode, and no collation depends on the version of a library
  if (major >= 17) locale.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8')
  const start = (program: string[], ...options: string[]) => {
    const [file = '', ...rest] = onCluster(program, data, account)
    return run(file, [...rest, ...options], { ...account, env, cwd: data })
  }
  await start([join(bin, 'initdb')], '-U', 'postgres', '-A', 'reject', '--data-checksums', ...locale)

  const password = randomBytes(24).toString('base64url')
  const single = start([join(bin, 'postgres'), '--single'], '-c', 'exit_on_error=on', 'template1')
  single.child.stdin?.end(
    [
      `CREATE ROLE ${name} LOGIN CREATEDB PASSWORD '${password}'`,
      `ALTER DATABASE postgres RENAME TO ${name}`,
      `ALTER DATABASE ${name} OWNER TO ${name}`,
    ].join('\n'),
  )
  await single
  await writeFile(join(data, 'pg_hba.conf'), `local all ${name} scram-sha-256\n`)
  await writeFile(join(home, 'password'), password, { mode: 0o600 })

  // after a power failure the folder must still exist under its name
  for (const path of [join(data, 'pg_hba.conf'), join(home, 'password'), data, home]) await sync(path)
  await rename(home, join(dir, 'postgres'))
  await sync(dir)
}

const sync = async (path: string) => {
  const file = await open(path, 'r')
  await file.sync()
  await file.close()
}

/** The path of a socket is limited to 107 bytes, 103 on macOS. A longer one gets a short alias in the temp folder. */
const recordHost = async (home: string): Promise<string> => {
  const folder = join(home, 'socket')
  let host = folder
  if (Buffer.byteLength(join(folder, socketName)) > 103) {
    host = join(await mkdtemp(join(tmpdir(), 'linkledger-')), 'socket')
    await symlink(folder, host)
  }
  await writeFile(join(home, 'host'), host, { mode: 0o600, flag: 'wx' })
  return host
}

const forgetHost = async (home: string) => {
  const file = join(home, 'host')
  const host = await readFile(file, 'utf8').catch(() => '')
  await rm(file, { force: true })
  // the file is not trusted: root may run this on a folder of another user
  if ((await readlink(host).catch(() => '')) !== join(home, 'socket')) return
  await rm(host)
  await rmdir(dirname(host))
}

const ifMissing =
  <T>(value: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return value
    throw error
  }
