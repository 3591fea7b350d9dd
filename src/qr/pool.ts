import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Done, Task } from './worker.ts'

/** A worker did not answer in time, or died over its task. */
export class Unanswered extends Error {}
/** Too many tasks wait already. */
export class Busy extends Error {}

export interface PoolOptions {
  /** workers at once; each is started when it is first needed */
  readonly size: number
  /** ms that a task may take; then its worker is killed */
  readonly patience: number
  /** tasks that may wait for a worker */
  readonly queue?: number
}
export interface Pool {
  /** Throws `Unanswered`, `Busy`. */
  readonly run: (task: Task) => Promise<Done>
  readonly close: () => Promise<void>
}

/** MiB of a worker's heap: what lies outside of it is bounded by what it is given to do. It has no part in our environment. */
const options = { resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32 }, env: {} }
const file = new URL(`./worker${extname(import.meta.url)}`, import.meta.url).href

/** tsx does not reach into threads by itself (privatenumber/tsx#354): where the source is run as it is, it is called there. */
const viaTsx = () =>
  new Worker(`import('tsx/esm/api').then((tsx) => (tsx.register(), import('${file}')))`, { ...options, eval: true })
const startWorker = () => (file.endsWith('.ts') ? viaTsx() : new Worker(new URL(file), options))

interface Job {
  readonly task: Task
  readonly resolve: (done: Done) => void
  readonly reject: (error: Error) => void
}

/** Threads that draw and decode, so that the event loop never does. */
export const openPool = ({ size, patience, queue = 200 }: PoolOptions): Pool => {
  const waiting: Job[] = []
  const workers = new Set<Worker>()
  const idle: (() => void)[] = []
  let closed = false

  const hire = () => {
    const worker = startWorker()
    worker.unref()
    workers.add(worker)
    let job: Job | undefined
    let timer: NodeJS.Timeout | undefined
    let why = 'it ended'
    const next = () => {
      job = waiting.shift()
      if (!job) return void idle.push(next)
      timer = setTimeout(() => {
        why = `it took more than ${patience} ms`
        void worker.terminate()
      }, patience)
      worker.postMessage(job.task)
    }
    worker.on('message', (message: Done | 'ready') => {
      clearTimeout(timer)
      if (message !== 'ready') job?.resolve(message)
      next()
    })
    worker.on('error', (error) => (why = String(error)))
    worker.on('exit', () => {
      clearTimeout(timer)
      workers.delete(worker)
      if (idle.includes(next)) idle.splice(idle.indexOf(next), 1)
      // one that dies before it is ready takes a task with it: else a program that cannot start would be started for ever
      else (job ?? waiting.shift())?.reject(new Unanswered(`a worker was lost over its task: ${why}`))
      if (waiting.length > 0 && !closed) hire()
    })
  }

  return {
    run: (task) =>
      new Promise((resolve, reject) => {
        if (closed || waiting.length >= queue) return reject(new Busy('too many tasks wait for a worker'))
        waiting.push({ task, resolve, reject })
        const next = idle.pop()
        if (next) next()
        else if (workers.size < size) hire()
      }),
    close: async () => {
      closed = true
      waiting.splice(0).forEach(({ reject }) => reject(new Busy('there are no workers any more')))
      await Promise.all([...workers].map((worker) => worker.terminate()))
    },
  }
}
