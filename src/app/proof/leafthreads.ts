import { extname } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { startThread } from '../../lib/thread.ts'
import { type Hashed, type HashTask, hashTexts } from './leafhash.ts'

/** A thread that hashes events ended before it had finished. */
class ThreadLost extends Error {
  override readonly name = 'ThreadLost'
}

/** Hashes events, several tasks at a time. */
export interface LeafThreads {
  /** tasks that keep all threads busy */
  readonly tasks: number
  readonly run: (task: HashTask) => Promise<Hashed>
  readonly close: () => Promise<unknown>
}

/** bytes of JSON from which on a thread is worth the message to it; a small log starts none */
const worthwhile = 256 * 1024
const file = new URL(`./leafworker${extname(import.meta.url)}`, import.meta.url).href

interface Waiting {
  readonly resolve: (hashed: Hashed) => void
  readonly reject: (error: Error) => void
}

const openThread = (onExit: () => void) => {
  const worker: Worker = startThread(file, { env: {} })
  // a thread answers in the order in which it was asked
  const waiting: Waiting[] = []
  let why = 'it ended'
  worker.on('message', (hashed: Hashed) => waiting.shift()?.resolve(hashed))
  worker.on('error', (error) => (why = String(error)))
  worker.on('exit', () => {
    onExit()
    for (const { reject } of waiting.splice(0)) reject(new ThreadLost(`a thread did not finish its events: ${why}`))
  })
  return {
    load: () => waiting.length,
    run: (task: HashTask) =>
      new Promise<Hashed>((resolve, reject) => {
        waiting.push({ resolve, reject })
        worker.postMessage(task)
      }),
    close: () => worker.terminate(),
  }
}

/** Opens up to `count` threads, each when it is first needed. With one core, events are hashed in this thread. */
export const openLeafThreads = (count: number): LeafThreads => {
  const threads: ReturnType<typeof openThread>[] = []
  const leastLoaded = () => {
    const [idlest] = threads.toSorted((a, b) => a.load() - b.load())
    if (idlest && (idlest.load() === 0 || threads.length >= count)) return idlest
    const thread = openThread(() => void threads.splice(threads.indexOf(thread), 1))
    threads.push(thread)
    return thread
  }
  return {
    // a second one waits, so that no thread waits for this one
    tasks: count > 1 ? 2 * count : 1,
    run: async (task) => {
      const bytes = task.events.reduce((sum, { data }) => sum + data.length, 0)
      return count > 1 && bytes >= worthwhile ? leastLoaded().run(task) : hashTexts(task)
    },
    close: () => Promise.all(threads.map((thread) => thread.close())),
  }
}
