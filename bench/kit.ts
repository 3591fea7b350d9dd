import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import type { EmbeddedConnection } from '../src/postgres/embedded.ts'
import { urlOf } from '../test/support/app.ts'
import { client, until } from '../test/support/client.ts'

/** A measured value and its target. */
export interface Line {
  readonly what: string
  readonly result: string
  readonly target: string
  readonly met: boolean
}

export interface Bench {
  readonly dir: string
  /**
   * Returns the first number, or with `--quick` the second, with which a part shows that it works rather than how fast.
   */
  readonly size: (full: number, quick: number) => number
  /** Creates an empty database on the PostgreSQL of the benchmarks. */
  readonly database: () => Promise<EmbeddedConnection>
  /**
   * Starts the built service in a separate process, on a new database unless one is given, and registers an account.
   */
  readonly service: (on?: EmbeddedConnection) => Promise<Service>
  /**
   * Starts the built service in a separate process with settings of its own; without a database, it starts the embedded
   * one in DATA_DIR. `program` is another one than today's.
   */
  readonly start: typeof startProgram
}
export type Started = Awaited<ReturnType<typeof startProgram>>
export type Service = Awaited<ReturnType<typeof startService>>

/** Waits until a count is the expected one. A benchmark that counts wrong measures something else, so it ends here. */
export const reach = async (
  what: string,
  expected: number,
  ask: () => Promise<number>,
  ms = 120_000,
): Promise<void> => {
  const found = await until(ask, (n) => n === expected, ms)
  if (found !== expected) throw new Error(`${what}: ${expected} expected, ${found} found`)
}

const cannon = createRequire(import.meta.url).resolve('autocannon')
/** the built program */
export const main = new URL('../dist/main.js', import.meta.url).pathname

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
      const [found] = /http:\/\/127\.0\.0\.1:\d+(?=[^]*\n)/.exec(output) ?? []
      if (found) resolve(found)
    })
    void exited.then(() => reject(new Error(`the process ended before it listened:\n${output}`)))
  })
  const stop = async () => {
    child.kill()
    await exited
  }
  return { address, pid: child.pid!, stop, output: () => output }
}

/** Returns the CPU time in µs that a server of `bench/servers` has used. */
export const cpuOf = async (address: string): Promise<number> => Number(await (await fetch(`${address}/cpu`)).text())

const startProgram = async (
  connection: EmbeddedConnection | undefined,
  settings: Readonly<Record<string, string>>,
  program = main,
) => {
  const { address, pid, stop, output } = await startListening([program, 'start'], {
    PORT: '0',
    ...(connection && { DATABASE_URL: urlOf(connection) }),
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'warn',
    ...settings,
  })
  const [metrics = ''] = /(?<=metrics: )http\S+\/metrics/.exec(output()) ?? []
  /** Returns the CPU time in µs that the process has used. */
  const cpu = async () => {
    const text = await (await fetch(metrics)).text()
    return Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1]) * 1e6
  }
  /** Returns the resident memory in bytes. */
  const memory = async () => {
    const text = await (await fetch(metrics)).text()
    return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1])
  }
  /** Waits until there are all read tables: the first start makes them. */
  const ready = () =>
    until(
      () => fetch(new URL('/readyz', metrics)),
      ({ ok }) => ok,
    )
  // checking each answer against the API document would be measured, too
  return { ...client(address, () => {}), pid, stop, cpu, memory, ready }
}

const startService = async (dir: string, connection: EmbeddedConnection) => {
  const service = await startProgram(connection, { DATA_DIR: await mkdtemp(join(dir, 'service-')) })
  await service.ready()
  const { key, id } = await service.register()
  return { ...service, key, id }
}

export const openBench = (dir: string, connection: EmbeddedConnection, quick: boolean): Bench => {
  let databases = 0
  const database = async () => {
    const name = `bench_${++databases}`
    const admin = new pg.Client(connection)
    await admin.connect()
    await admin.query(`create database ${name}`)
    await admin.end()
    return { ...connection, database: name }
  }
  const size = (full: number, few: number) => (quick ? few : full)
  return {
    dir,
    size,
    database,
    service: async (on) => startService(dir, on ?? (await database())),
    start: startProgram,
  }
}

export interface Load {
  readonly requests: { readonly total: number; readonly average: number }
  readonly latency: { readonly p50: number; readonly p99: number }
  readonly duration: number
  readonly errors: number
  readonly '2xx': number
  readonly '3xx': number
  readonly '4xx': number
}

const inProcess = async (...args: readonly string[]): Promise<Load> => {
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 64 * 1024 ** 2 })
  return JSON.parse(stdout) as Load
}

/** Sends requests from a separate process; `args` are those of autocannon. */
export const load = (...args: readonly string[]): Promise<Load> =>
  inProcess(cannon, '--json', '--no-progress', '--sampleInt', '20', ...args)

const visitor = new URL('visits.mjs', import.meta.url).pathname

/** Visits the addresses `/a0`, `/a1`, …: each once, or `amount` times on 32 connections, a few of them most often. */
export const visitAliases = (address: string, aliases: number, amount?: number): Promise<Load> =>
  inProcess(visitor, address, String(aliases), ...(amount === undefined ? [] : [String(amount)]))

/** Visits one path on 32 connections. */
export const visitPath = (address: string, path: string, amount: number): Promise<Load> =>
  inProcess(visitor, address, path, String(amount))

const misser = new URL('misses.mjs', import.meta.url).pathname

/** Asks for aliases that do not exist, each once and from an address of its own, at a rate. */
export const visitMisses = (address: string, amount: number, rate: number): Promise<Load> =>
  inProcess(misser, address, String(amount), String(rate))

/** Latencies in µs. */
export interface Latencies {
  readonly visits: number
  readonly p50: number
  readonly p99: number
}
export interface Steady {
  readonly aliases: number
  /** visits per second */
  readonly rate: number
  readonly seconds: number
  /** number of the first visit, when each alias is visited once; otherwise they are visited at random */
  readonly from?: number
}

/**
 * Builds the client in C, and returns a function that visits random ones of `/a0`, `/a1`, … with it on 64 connections:
 * at a rate, as an open loop, or with the rate 0 as often as they are answered. Returns undefined without a compiler.
 */
export const buildVisitor = async (dir: string) => {
  const program = join(dir, 'visits')
  const source = new URL('visits.c', import.meta.url).pathname
  const built = await promisify(execFile)('cc', ['-O2', '-D_GNU_SOURCE', '-o', program, source]).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      return undefined
    },
  )
  if (!built) return undefined
  return async (address: string, { aliases, rate, seconds }: Omit<Steady, 'from'>) => {
    const { hostname, port } = new URL(address)
    const { stdout } = await promisify(execFile)(program, [hostname, port, ...[aliases, rate, seconds].map(String)])
    return JSON.parse(stdout) as Latencies & { readonly perSecond: number; readonly max: number }
  }
}

const steady = new URL('steady.mjs', import.meta.url).pathname

/** Begins to visit aliases at a steady rate from a separate process; `stop` ends that early. */
export const startSteady = (address: string, { aliases, rate, seconds, from }: Steady) => {
  const numbers = [aliases, rate, seconds, ...(from === undefined ? [] : [from])].map(String)
  const child = execFile(process.execPath, [steady, address, ...numbers])
  running.add(child)
  let [output, errors] = ['', '']
  child.stdout?.on('data', (text: string) => (output += text))
  child.stderr?.on('data', (text: string) => (errors += text))
  const done = once(child, 'close').then(([code]): Latencies => {
    running.delete(child)
    if (code !== 0) throw new Error(`the visits ended with ${code}: ${errors}`)
    return JSON.parse(output) as Latencies
  })
  // it may fail before its caller waits for it
  done.catch(() => {})
  return { done, stop: () => void child.kill() }
}

/** Visits aliases at a steady rate, and returns how long that took. */
export const visitSteadily = (address: string, visits: Steady): Promise<Latencies> => startSteady(address, visits).done

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
export const ms = (us: number): string => `${(us / 1000).toFixed(1)} ms`
export const megabytes = (bytes: number): string => `${count(bytes / 1e6)} MB`
export const count = (n: number): string => Math.round(n).toLocaleString('en')
