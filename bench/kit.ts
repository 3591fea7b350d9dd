import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import type { EmbeddedConnection } from '../src/postgres/embedded.ts'
import { urlOf } from '../test/support/app.ts'
import { client } from '../test/support/client.ts'

/** A measured value and its target. */
export interface Line {
  readonly what: string
  readonly result: string
  readonly target: string
  readonly met: boolean
}

export interface Bench {
  readonly dir: string
  /** Creates an empty database on the PostgreSQL of the benchmarks. */
  readonly database: () => Promise<EmbeddedConnection>
  /** Starts the built service in a separate process, on a new database unless one is given. */
  readonly service: (on?: EmbeddedConnection) => Promise<Service>
}
export type Service = Awaited<ReturnType<typeof startService>>

const cannon = createRequire(import.meta.url).resolve('autocannon')
const main = new URL('../dist/main.js', import.meta.url).pathname

const running = new Set<ChildProcess>()
/** Ends the processes that a failed benchmark has left running. */
export const stopAll = () => running.forEach((child) => child.kill())

/** Starts a process and resolves with its address once the process has printed it. */
export const startListening = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const child: ChildProcess = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.add(child)
  const exited = once(child, 'exit').finally(() => running.delete(child))
  let output = ''
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (text: Buffer) => {
      output += text.toString()
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? []
      if (found) resolve(found)
    })
    void exited.then(() => reject(new Error(`the process ended before it listened:\n${output}`)))
  })
  const stop = async () => {
    child.kill()
    await exited
  }
  return { address, stop }
}

const startService = async (dir: string, connection: EmbeddedConnection) => {
  const { address, stop } = await startListening([main, 'start'], {
    PORT: '0',
    DATA_DIR: await mkdtemp(join(dir, 'service-')),
    DATABASE_URL: urlOf(connection),
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'warn',
  })
  const api = client(address)
  const { key } = await api.register()
  return { ...api, key, stop }
}

export const openBench = (dir: string, connection: EmbeddedConnection): Bench => {
  let databases = 0
  const database = async () => {
    const name = `bench_${++databases}`
    const admin = new pg.Client(connection)
    await admin.connect()
    await admin.query(`create database ${name}`)
    await admin.end()
    return { ...connection, database: name }
  }
  return { dir, database, service: async (on) => startService(dir, on ?? (await database())) }
}

interface Load {
  readonly requests: { readonly total: number; readonly average: number }
  readonly latency: { readonly p50: number; readonly p99: number }
  readonly duration: number
  readonly errors: number
  readonly '2xx': number
  readonly '3xx': number
}

/** Sends requests from a separate process; `args` are those of autocannon. */
export const load = async (...args: readonly string[]): Promise<Load> => {
  const { stdout } = await promisify(execFile)(process.execPath, [cannon, '--json', '--no-progress', ...args], {
    maxBuffer: 64 * 1024 ** 2,
  })
  return JSON.parse(stdout) as Load
}

export const quantile = (values: readonly number[], p: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * p))] ?? Number.NaN
export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** Runs the task in `writers` parallel loops for some seconds; returns the number of runs per second. */
export const perSecond = async (writers: number, seconds: number, task: () => Promise<unknown>): Promise<number> => {
  const start = performance.now()
  let done = 0
  const writer = async () => {
    for (; performance.now() - start < seconds * 1000; done++) await task()
  }
  await Promise.all(Array.from({ length: writers }, writer))
  return (done * 1000) / (performance.now() - start)
}
export const count = (n: number): string => Math.round(n).toLocaleString('en')
