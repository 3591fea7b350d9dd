import { expect } from 'chai'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type EmbeddedConnection, type EmbeddedPostgres, startEmbedded } from '../../src/postgres/embedded.ts'
import { endChildren, prepareChildren } from './child.ts'

export const isRoot = process.getuid?.() === 0

/** Runs a statement on a new connection. Returns its rows as arrays. */
export const query = async (connection: EmbeddedConnection, sql: string): Promise<unknown[][]> => {
  const client = new pg.Client(connection)
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query({ text: sql, rowMode: 'array' })).rows
  } finally {
    await client.end().catch(() => {})
  }
}

/** Repeats an attempt until it succeeds, for at most 30 s. */
export const eventually = async <T>(attempt: () => Promise<T>): Promise<T> => {
  for (const end = Date.now() + 30_000; ; await sleep(20)) {
    try {
      return await attempt()
    } catch (error) {
      if (Date.now() > end) throw error
    }
  }
}

/** Returns the message of the error with which an attempt fails, `none` when it succeeds. */
export const refusalOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'none',
    (error: Error) => error.message,
  )

/** Returns the state of a process as `ps` shows it; empty when there is no such process. */
export const stateOf = (pid: number) =>
  spawnSync('ps', ['-p', String(pid), '-o', 'stat='], { encoding: 'utf8' }).stdout.trim()
export const isGone = (pid: number) => eventually(async () => expect(stateOf(pid)).to.match(/^Z?$/, `process ${pid}`))

/** Returns the parent of each process. */
export const parents = () =>
  new Map(
    execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]),
  )

/** Returns the process id in the lock file of a cluster. */
export const postmasterOf = async (folder: string) =>
  Number.parseInt(await readFile(join(folder, 'postgres/data/postmaster.pid'), 'utf8'), 10)

/**
 * A temporary folder with spaces in its path, for the tests of one suite. The first test that starts a server creates
 * the cluster, and the others use it. Every server and child process ends with its test.
 */
export const useEmbedded = () => {
  const paths = { scratch: '', dir: '' }
  const crashes: string[] = []
  const started: EmbeddedPostgres[] = []

  before(async () => {
    await prepareChildren()
    paths.scratch = await mkdtemp(join(tmpdir(), 'linkledger test '))
    await chmod(paths.scratch, 0o711)
    paths.dir = join(paths.scratch, 'data folder')
  })
  beforeEach(() => void crashes.splice(0))
  afterEach(async () => {
    await Promise.all(started.splice(0).map(({ stop }) => stop()))
    await endChildren()
  })
  after(() => rm(paths.scratch, { recursive: true, force: true }))

  return {
    paths,
    crashes,
    start: async (folder = paths.dir, options: { readonly buffers?: number } = {}) => {
      const onCrash = (why: string) => crashes.push(why)
      const postgres = await startEmbedded({ dir: folder, log: () => {}, onCrash, ...options })
      started.push(postgres)
      return postgres
    },
  }
}
