import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { isFullDisk } from '../lib/datadir.ts'
import { OperatorError } from '../lib/operatorerror.ts'
import { type Account, env } from './binaries.ts'
import { stopLeftovers, isReady, nameOf, yieldCpu } from './processes.ts'

export interface Cluster {
  /** holds `data` and `socket` */
  readonly home: string
  readonly bin: string
  /** the user to run as; undefined: the user of this process */
  readonly account: Account | undefined
  /** memory for pages, in MB */
  readonly buffers: number
}

/**
 * Returns the command line of a program that is started with the cluster's `data` as working directory. Another account
 * may be unable to traverse the path to it (below /root, for example). On Linux the program therefore opens the folder
 * by an inherited descriptor. The working directory alone is not enough: before version 16, PostgreSQL leaves it during
 * startup and returns by path.
 */
export const onCluster = (program: string[], data: string, account: Account | undefined): string[] =>
  account && process.platform === 'linux'
    ? ['/bin/sh', '-c', 'exec 9<.; cd /; exec "$@"', 'sh', ...program, '-D', '/proc/self/fd/9']
    : [...program, '-D', data]

/**
 * A shell that outlives this process: when our end of its input closes, however we die, it stops PostgreSQL. It signals
 * several times, because PostgreSQL ignores the signal during startup. As the parent, it also reaps PostgreSQL where
 * PID 1 does not.
 */
const keeper = `trap '' HUP INT TERM
exec 3<&0
"$@" </dev/null 3<&- & server=$!
exec 2>/dev/null
{ read -r _ <&3; for _ in 1 2 3 4 5 6 7 8 9 10; do kill -INT $server || break; sleep 1; done; kill -QUIT $server; } & watch=$!
exec 3<&- </dev/null
wait $server; status=$?
kill -KILL $watch; wait $watch
exit $status`

const settings = ({ home, buffers }: Cluster): Record<string, string> => ({
  listen_addresses: '',
  unix_socket_directories: '../socket', // relative to `data`: independent of permissions on the path and of its length
  unix_socket_permissions: '0700',
  port: '5432',
  cluster_name: nameOf(home),
  max_connections: '150',
  shared_buffers: `${buffers}MB`,
  wal_recycle: 'off', // a segment that is used again keeps what was erased until it is full
  log_line_prefix: '',
  log_error_verbosity: 'terse', // DETAIL contains values of rows
})

/**
 * Starts the server of a cluster and restarts it whenever it dies. The caller holds the lock of the cluster's folder.
 * Neither the server nor its pipes keep this process alive. Throws when the first start fails.
 */
export const supervise = async (
  cluster: Cluster,
  log: (line: string) => void,
  onCrash: (why: string) => void,
): Promise<{ readonly stop: () => Promise<void> }> => {
  const { home } = cluster
  const stopping = new AbortController()
  let server = await launch(cluster, log, stopping.signal)

  const first = await Promise.race([server.ready, server.ended])
  if (first !== 'ready') throw new OperatorError(`${home}: ${first}`)

  const watching = (async () => {
    let pause = 0
    for (let since = performance.now(); ; since = performance.now()) {
      const why = await server.ended
      if (stopping.signal.aborted) return
      onCrash(why)
      if (performance.now() - since > 60_000) pause = 0
      await sleep(pause, undefined, { ref: false, signal: stopping.signal }).catch(() => {})
      pause = Math.min(Math.max(pause * 2, 100), 10_000)
      server = await launch(cluster, log, stopping.signal)
    }
  })()

  return {
    stop: async () => {
      stopping.abort()
      const waiting = new AbortController()
      await Promise.race([watching, sleep(10_000, undefined, { signal: waiting.signal }).catch(() => {})])
      waiting.abort()
      await stopLeftovers(home) // normally there is nothing left to do
    },
  }
}

/** Returns which line of PostgreSQL's output says why it ended: the last ones say only that it did. */
const lineThatTells = () => {
  let [kept, weight] = ['', 0]
  return {
    line: () => kept,
    read: (line: string): void => {
      const found = isFullDisk(new Error(line)) ? 3 : /^(FATAL|PANIC):/.test(line) ? 2 : 1
      if (found >= weight) [kept, weight] = [line, found]
    },
  }
}

interface Server {
  readonly ready: Promise<'ready'>
  /** how it ended, or why it did not start; never rejects */
  readonly ended: Promise<string>
}

const launch = async (cluster: Cluster, log: (line: string) => void, stopping: AbortSignal): Promise<Server> => {
  const { home, bin, account } = cluster
  try {
    await stopLeftovers(home)
    stopping.throwIfAborted()
  } catch (error) {
    return { ready: new Promise(() => {}), ended: Promise.resolve(String(error)) }
  }
  const data = join(home, 'data')
  const options = Object.entries(settings(cluster)).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const command = [...onCluster([join(bin, 'postgres')], data, account), ...options]
  const shell = spawn('/bin/sh', ['-c', keeper, 'sh', ...command], {
    ...account,
    env,
    cwd: data,
    detached: true, // a session of its own, so that Ctrl-C reaches only this process, which stops PostgreSQL last
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  shell.unref()
  for (const pipe of shell.stdio) if (pipe instanceof Socket) pipe.unref()
  const cause = lineThatTells()
  const lines = createInterface({ input: shell.stderr }).on('line', log).on('line', cause.read)
  const outputEnded = once(lines, 'close')

  const closeInput = () => shell.stdin.destroy()
  stopping.addEventListener('abort', closeInput)
  const ended = once(shell, 'exit').then(
    async ([status, signal]: (number | string | null)[]) => {
      // output may arrive after the exit, and a backend that is slow to end keeps the pipe open
      await Promise.race([outputEnded, sleep(200)])
      return `PostgreSQL ended with ${signal ?? `status ${status}`}; its output: ${cause.line()}`
    },
    (error: Error) => `PostgreSQL cannot be started: ${error.message}`,
  )
  let over = false
  const ready = async () => {
    while (!over && !(await isReady(home))) await sleep(10)
    if (over) return new Promise<'ready'>(() => {})
    await yieldCpu(home)
    return 'ready'
  }
  void ended.then(() => {
    over = true
    closeInput()
    stopping.removeEventListener('abort', closeInput)
  })
  return { ready: ready(), ended }
}
