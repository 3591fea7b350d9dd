import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import pg from 'pg'
import type { Connection } from '../../src/postgres/database.ts'
import { builtMain } from './build.ts'
import { startLoad, type LoadRequest } from './load.ts'
import { type Service, startProcess } from './process.ts'

/** `npm run test:faults`: more rounds. */
export const long = process.env['FAULTS'] === 'long'

/** The time in which a test may start rounds in `npm run test:faults`, in ms. `.ci/long` sets a shorter one. */
export const longestMs = Number(process.env['FAULTS_SECONDS'] ?? 600) * 1000

/** Numbers the rounds of a test: `few`, or in `npm run test:faults` up to `many` as long as there is time. */
export const rounds = function* (few: number, many: number) {
  const end = Date.now() + longestMs
  for (let round = 0; round < few || (long && round < many && Date.now() < end); round++) yield round
}

/** Seed of everything random in the fault specs. Their titles print it. */
export const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
export const repeatable = `SEED=${seed} repeats what is random here`

/** Returns a generator of whole numbers from 0 to less than its argument (mulberry32). */
export const randomFrom = (start: number): ((below: number) => number) => {
  let state = start
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

/** Prints a line among the results, for example a measured time. */
export const note = (text: string) => void process.stdout.write(`      (${text})\n`)

/** Returns the spread of times in ms: `p50 3.0 ms, p99 12.0 ms`. */
export const spread = (times: readonly number[]) => {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(1)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
}

export const query = async <R extends object>(connection: Connection, sql: string, values: unknown[] = []) => {
  const client = new pg.Client(connection)
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<R>(sql, values)).rows
  } finally {
    await client.end().catch(() => {})
  }
}

/** Stops a service with SIGTERM. Kills one that does not stop, and fails the spec. */
const stop = async ({ child, end }: Service) => {
  const deadline = setTimeout(() => child.kill('SIGKILL'), 45_000)
  const alive = child.exitCode === null && child.signalCode === null
  const code = await end()
  clearTimeout(deadline)
  if (alive) expect(code, 'exit code of a service that was stopped').to.equal(0)
}

/** Opens services, folders and connections for a spec. `clear` closes all of them, also after a failed test. */
export const openStage = () => {
  const steps: (() => unknown)[] = []
  return {
    later: (step: () => unknown) => void steps.push(step),
    clear: async () => {
      const problems: unknown[] = []
      for (const step of steps.splice(0).toReversed())
        try {
          await step()
        } catch (error) {
          problems.push(error)
        }
      if (problems.length > 0) throw problems[0]
    },
    dir: async () => {
      const dir = await mkdtemp(join(tmpdir(), 'linkledger-fault-'))
      steps.push(() => rm(dir, { recursive: true, force: true }))
      return dir
    },
    start: async (settings: Readonly<Record<string, string>>, main?: string): Promise<Service> => {
      const service = await startProcess(settings, main)
      steps.push(() => stop(service))
      return service
    },
    /** Starts a command of the program, which the spec kills while it works. */
    command: async (args: readonly string[], settings: Readonly<Record<string, string>>) => {
      const child = spawn(process.execPath, [await builtMain(), ...args], {
        env: { PATH: process.env['PATH'] ?? '', ...settings },
        stdio: 'ignore',
      })
      steps.push(() => child.kill('SIGKILL'))
      return child
    },
    /** `startLoad`, which `clear` stops when a spec fails. */
    load: <W extends LoadRequest>(
      { address }: Pick<Service, 'address'>,
      workers: number,
      next: (n: number) => W,
      pause?: number,
    ) => {
      const load = startLoad(address, workers, next, pause)
      steps.push(load.stop)
      return load
    },
    /** Opens a connection that holds its locks until the spec releases them. */
    connect: async (connection: Connection) => {
      const client = new pg.Client(connection)
      client.on('error', () => {})
      await client.connect()
      steps.push(() => client.end().catch(() => {}))
      return client
    },
  }
}
