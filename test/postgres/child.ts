import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { EmbeddedConnection } from '../../src/postgres/embedded.ts'
import { builtMain } from '../support/build.ts'

/** One message of start-embedded.ts. */
export interface ChildMessage {
  readonly started?: number
  readonly connection?: EmbeddedConnection
  readonly refused?: string
  readonly crash?: string
  readonly stopped?: number
}

export interface Child {
  readonly pid: number
  /** its next message */
  readonly next: () => Promise<ChildMessage>
  readonly stop: () => Promise<ChildMessage>
  readonly kill: (signal: NodeJS.Signals) => void
  readonly ended: Promise<unknown>
}

export const repository = fileURLToPath(new URL('../..', import.meta.url))

const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href

const children = new Set<Child>()

/** start-embedded.ts as it was built with the program, which takes a quarter of the time to start */
let built: string | undefined
/** Waits for the build, which unit tests do not have. */
export const prepareChildren = async () => {
  if (process.env['UNIT'] !== '1') built ??= join(dirname(await builtMain()), 'start-embedded.js')
}

/** Runs start-embedded.ts of a checkout, by default the built one of this checkout, in a locale that is not UTF-8. */
export const child = (
  what: 'embedded' | 'datadir' | 'leave',
  dir: string,
  { checkout, uid }: { checkout?: string; uid?: number } = {},
): Child => {
  const source = ['--import', tsx, `${checkout ?? repository}/test/postgres/start-embedded.ts`]
  const program = checkout === undefined && built !== undefined ? [built] : source
  const process_ = spawn(process.execPath, [...program, what, dir], {
    env: { PATH: process.env['PATH'], LANG: 'C' },
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  let stderr = ''
  process_.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const lines = createInterface({ input: process_.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<ChildMessage> => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`the child process has ended; its last output: ${stderr.slice(-2000)}`)
    return JSON.parse(value) as ChildMessage
  }
  const made: Child = {
    pid: process_.pid ?? 0,
    next,
    stop: () => {
      process_.stdin.write('stop\n')
      return next()
    },
    kill: (signal) => void process_.kill(signal),
    ended: once(process_, 'exit').finally(() => children.delete(made)),
  }
  children.add(made)
  return made
}

/** Kills all child processes, for afterEach: a failed test must not leave any running. */
export const endChildren = async () => {
  const alive = [...children]
  for (const { kill } of alive) {
    kill('SIGCONT')
    kill('SIGKILL')
  }
  await Promise.all(alive.map(({ ended }) => ended))
}
