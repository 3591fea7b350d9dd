import { extname } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { createFairQueue } from '../lib/async/fairqueue.ts'
import { startThread } from '../lib/thread.ts'
import type { Done, Task } from './worker.ts'

/** A worker exceeded its time limit, or ended before it finished its task. */
export class WorkerLost extends Error {
  override readonly name = 'WorkerLost'
}
/** The queue of waiting tasks is full, or the part of it that one source may have. */
export class Busy extends Error {
  override readonly name = 'Busy'
}
const tooMany = () => new Busy('too many tasks are waiting for a worker')

export interface PoolOptions {
  /** maximum number of workers; each is started when it is first needed */
  readonly size: number
  /** time limit of a task; its worker is killed when the limit is exceeded */
  readonly timeoutMs: number
  /** maximum number of tasks that wait for a worker */
  readonly queue?: number
  /** maximum number of waiting tasks of one source */
  readonly perSource?: number
}
export interface Pool {
  /** Runs a task in a worker; sources take turns. Throws `WorkerLost` or `Busy`. */
  readonly run: (task: Task, source?: string) => Promise<Done>
  readonly close: () => Promise<void>
}

/**
 * Limits of a worker: its heap in MiB (buffers outside of the heap are bounded by the sizes of its tasks), and an empty
 * environment.
 */
const options = { resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32 }, env: {} }
const file = new URL(`./worker${extname(import.meta.url)}`, import.meta.url).href

interface Job {
  readonly task: Task
  readonly resolve: (done: Done) => void
  readonly reject: (error: Error) => void
}

/** Opens a pool of threads that draw and decode, so that the event loop is never blocked by that work. */
export const openPool = ({ size, timeoutMs, queue = 200, perSource = queue }: PoolOptions): Pool => {
  const waiting = createFairQueue<Job>({ total: queue, perSource, onLeft: ({ reject }) => reject(tooMany()) })
  const workers = new Set<Worker>()
  const idle: (() => void)[] = []
  let closed = false

  const startWorker = () => {
    const worker = startThread(file, options)
    worker.unref()
    workers.add(worker)
    let job: Job | undefined
    let timer: NodeJS.Timeout | undefined
    let why = 'it ended'
    const next = () => {
      job = waiting.shift()
      if (!job) return void idle.push(next)
      timer = setTimeout(() => {
        why = `it took more than ${timeoutMs} ms`
        void worker.terminate()
      }, timeoutMs)
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
      // a worker that ends before it is ready fails a waiting task: otherwise one that cannot start would be restarted
      // forever
      else (job ?? waiting.shift())?.reject(new WorkerLost(`a worker did not finish its task: ${why}`))
      if (waiting.size() > 0 && !closed) startWorker()
    })
  }

  return {
    run: (task, source = '') =>
      new Promise((resolve, reject) => {
        if (closed || !waiting.push(source, { task, resolve, reject })) return reject(tooMany())
        const next = idle.pop()
        if (next) next()
        else if (workers.size < size) startWorker()
      }),
    close: async () => {
      closed = true
      for (let job = waiting.shift(); job; job = waiting.shift()) job.reject(new Busy('the workers are shutting down'))
      await Promise.all([...workers].map((worker) => worker.terminate()))
    },
  }
}
