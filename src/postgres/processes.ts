import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../lib/operatorerror.ts'
import { background, lowerPriority } from '../lib/thread.ts'
import { env, run } from './binaries.ts'

export const socketName = '.s.PGSQL.5432'

/** Name of a cluster. On macOS it is the only mark on all processes of the cluster. */
export const nameOf = (home: string): string =>
  `linkledger-${createHash('sha256').update(home).digest('hex').slice(0, 8)}`

/**
 * Whether the server accepts connections, by the file that pg_ctl checks too. A file of an earlier start has been
 * removed.
 */
export const isReady = async (home: string): Promise<boolean> => {
  const lines = (await readFile(join(home, 'data', 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  return lines[7]?.trim() === 'ready'
}

/** Gives the server, and the sessions that it opens from now on, a lower priority than requests have. */
export const yieldCpu = async (home: string): Promise<void> => {
  const postmaster = Number.parseInt(await readFile(join(home, 'data', 'postmaster.pid'), 'utf8').catch(() => ''), 10)
  if (postmaster > 0) lowerPriority(background, postmaster)
}

/**
 * Stops the processes that a dead owner left in a cluster, with increasingly strong signals, and removes their lock
 * files. PostgreSQL itself trusts the process id in a lock file, even when it now belongs to an unrelated process or to
 * one that is dead but not reaped.
 */
export const stopLeftovers = async (home: string): Promise<void> => {
  const [data, socket] = [join(home, 'data'), join(home, 'socket')]
  const lock = join(data, 'postmaster.pid')
  const steps = [
    { signal: 'SIGINT', waitMs: 8000 },
    { signal: 'SIGQUIT', waitMs: 3000 },
    { signal: 'SIGKILL', waitMs: 3000 },
  ] as const
  for (const { signal, waitMs } of steps) {
    const postmaster = Number.parseInt(await readFile(lock, 'utf8').catch(() => ''), 10)
    const pids = await processesIn(home)
    // backends without a postmaster end by themselves, a busy one only after a while: SIGINT does not help
    if (signal === 'SIGINT' && pids.length > 0 && !pids.includes(postmaster)) continue
    for (const pid of pids) if (signal !== 'SIGINT' || pid === postmaster) kill(pid, signal)
    for (const end = performance.now() + waitMs; performance.now() < end; await sleep(20)) {
      if ((await processesIn(home)).length > 0 || (await answers(socket))) continue
      for (const file of [lock, join(socket, socketName), join(socket, `${socketName}.lock`)])
        await rm(file, { force: true })
      return
    }
  }
  throw new OperatorError(
    `${data} is in use by a PostgreSQL that this process cannot stop: it may run in another container`,
  )
}

const kill = (pid: number, signal: NodeJS.Signals) => {
  try {
    process.kill(pid, signal)
  } catch {
    // it has ended in the meantime
  }
}

/** The processes of the cluster's server. A process id alone does not identify them, because ids are reused. */
const processesIn = async (home: string): Promise<readonly number[]> => {
  if (process.platform !== 'linux') {
    const { stdout } = await run('ps', ['-axww', '-o', 'pid=,command='], { env })
    const lines = stdout.split('\n').filter((line) => line.includes(nameOf(home)) && !line.includes('/bin/sh -c'))
    return lines.map((line) => Number.parseInt(line, 10))
  }
  const data = await stat(join(home, 'data'))
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger)
  const inside = await Promise.all(
    pids.map(async (pid) => {
      try {
        if ((await readFile(`/proc/${pid}/comm`, 'utf8')) !== 'postgres\n') return false
        const place = await stat(`/proc/${pid}/cwd`)
        return place.ino === data.ino && place.dev === data.dev
      } catch {
        return false
      }
    }),
  )
  return pids.filter((_, index) => inside[index])
}

/** Whether a server listens in this socket folder, including one whose processes are not visible to this one. */
export const answers = async (socketFolder: string): Promise<boolean> => {
  const socket = connect(join(socketFolder, socketName))
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
