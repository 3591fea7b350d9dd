import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { EmbeddedConnection } from '../../src/postgres/embedded.ts'

/** One line of start-embedded.ts. */
export interface Said {
  readonly started?: number
  readonly connection?: EmbeddedConnection
  readonly refused?: string
  readonly crash?: string
  readonly stopped?: number
}

export interface Child {
  readonly pid: number
  /** what it says next */
  readonly next: () => Promise<Said>
  readonly stop: () => Promise<Said>
  readonly kill: (signal: NodeJS.Signals) => void
  readonly ended: Promise<unknown>
}

export const repository = fileURLToPath(new URL('../..', import.meta.url))

const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href

const children = new Set<Child>()

/** Runs start-embedded.ts of a checkout, in a machine's language that is not UTF-8. */
export const child = (
  what: 'embedded' | 'datadir' | 'leave',
  dir: string,
  { checkout = repository, uid }: { checkout?: string; uid?: number } = {},
): Child => {
  const script = `${checkout}/test/postgres/start-embedded.ts`
  const process_ = spawn(process.execPath, ['--import', tsx, script, what, dir], {
    env: { PATH: process.env['PATH'], LANG: 'C' },
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  let complaints = ''
  process_.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text))
  const lines = createInterface({ input: process_.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<Said> => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`the child process has ended; its last output: ${complaints.slice(-2000)}`)
    return JSON.parse(value) as Said
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

/** For afterEach: a failed test leaves nothing behind. */
export const endChildren = async () => {
  const alive = [...children]
  for (const { kill } of alive) {
    kill('SIGCONT')
    kill('SIGKILL')
  }
  await Promise.all(alive.map(({ ended }) => ended))
}
