import { extname } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { heed, shareSpool } from '../../clicks/spool/shared.ts'
import type { Spool } from '../../clicks/spool/spool.ts'
import { logTo } from '../../clicks/report.ts'
import { backOff } from '../../lib/async/backoff.ts'
import { startProgram } from '../../lib/thread.ts'
import type { MetricValues } from '../health/metrics.ts'
import type { Ledger } from '../log/ledger.ts'
import type { Engine, EngineEvents, EngineState } from './engine.ts'
import type { EngineData, FromEngine, ToEngine } from './messages.ts'

interface ThreadOptions {
  readonly spool: Spool
  readonly events: EngineEvents
  /** on which the service listens so far */
  readonly ports: () => readonly number[]
  readonly onThread?: ((thread: Worker) => void) | undefined
}

/** An engine in a thread of its own. */
export interface EngineThread extends Engine {
  /** The service listens on a port. */
  readonly listensOn: (port: number) => void
  /** Whether the engine has begun to work. */
  readonly works: () => boolean
}

const file = new URL(`./run${extname(import.meta.url)}`, import.meta.url).href

/** What is known of an engine that does not answer. */
const silent = (why: string): EngineState => ({
  ...{ projector: undefined, relays: [], aside: [], recorder: undefined, weaknesses: [] },
  problems: [why],
})

/** ms that a scrape waits for the metrics of the engine */
const scrapeMs = 2000

/** Collects the answers to scrapes. */
const createScrapes = () => {
  const waiting: ((metrics: MetricValues) => void)[] = []
  return {
    next: () =>
      new Promise<MetricValues>((resolve) => {
        waiting.push(resolve)
        setTimeout(() => resolve([]), scrapeMs).unref()
      }),
    answer: (metrics: MetricValues) => {
      for (const resolve of waiting.splice(0)) resolve(metrics)
    },
  }
}

interface Running {
  readonly thread: Worker
  readonly post: (message: ToEngine) => void
  readonly ended: Promise<void>
}

/** Starts one thread, and tells it of the spool until it ends. */
const startThread = (
  { config, connection, instance, log }: Pick<Ledger, 'config' | 'connection' | 'instance' | 'log'>,
  spool: Spool,
  { isNew, ports }: { readonly isNew: boolean; readonly ports: readonly number[] },
  react: (message: FromEngine) => Promise<void>,
): Running => {
  const { id, found } = spool
  const workerData: EngineData = {
    config: { ...config, TRUST_PROXY: 0 },
    partOf: { connection, instance },
    spool: { id, isNew, found, files: spool.files(), stats: spool.stats() },
    ports,
  }
  const thread = startProgram(file, { workerData })
  const exited = new AbortController()
  const post = (message: ToEngine) => thread.postMessage(message)
  thread.on('message', (message: FromEngine) => void react(message))
  thread.on('error', (error) => log.error({ err: error }, 'the engine failed'))
  void shareSpool(spool, (files, stats) => post({ kind: 'spool', files, stats }), exited.signal)
  const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve(exited.abort())))
  return { thread, post, ended }
}

/**
 * Starts the engine in a thread of its own, with a lower priority, on the database of the ledger. When the thread ends,
 * another one goes on where it was: what is not recorded is in the spool.
 */
export const openEngineThread = (ledger: Ledger, { spool, events, ports, onThread }: ThreadOptions): EngineThread => {
  const { log } = ledger
  const closing = new AbortController()
  const scrapes = createScrapes()
  let state = silent('the engine is starting: nothing is counted or shown yet')
  let thread: Running | undefined
  /** Replies are heeded in order. */
  let heeding: Promise<void> = Promise.resolve()
  const post = (message: ToEngine) => thread?.post(message)
  let works = false

  const react = async (message: FromEngine) => {
    if (message.kind === 'state') {
      ;({ state } = message)
      works = true
    }
    if (message.kind === 'seen') await events.seen(message.filter, message.position)
    if (message.kind === 'recorded') events.recorded(message.partition, message.seq, message.position)
    if (message.kind === 'delivered') events.delivered()
    if (message.kind === 'spool') heeding = heeding.then(() => heed(spool, message.reply, logTo(log)))
    if (message.kind === 'metrics') scrapes.answer(message.metrics)
    if (message.kind === 'blocked')
      post({ kind: 'blocked', id: message.id, isBlocked: await events.isBlocked(message.url) })
  }

  const keepRunning = async () => {
    const retries = backOff({ from: 1000, to: 10_000, signal: closing.signal })
    for (let isNew = true; !closing.signal.aborted; isNew = false) {
      const began = performance.now()
      thread = startThread(ledger, spool, { isNew, ports: ports() }, react)
      onThread?.(thread.thread)
      await thread.ended
      if (closing.signal.aborted) return
      state = silent('the engine has ended and is started again: nothing is counted or shown meanwhile')
      log.error('the engine has ended; it is started again')
      if (performance.now() - began > 60_000) retries.reset()
      await retries.pause()
    }
  }
  const running = keepRunning()
  ledger.metrics.join(async () => {
    post({ kind: 'metrics' })
    return scrapes.next()
  })
  return {
    works: () => works,
    state: () => state,
    look: (filter) => post({ kind: 'look', filter }),
    listensOn: (port) => post({ kind: 'port', port }),
    close: async () => {
      closing.abort()
      post({ kind: 'close' })
      await running
      await heeding
    },
  }
}
