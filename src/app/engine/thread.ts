import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { heed, shareSpool } from '../../clicks/spool/shared.ts'
import type { Spool } from '../../clicks/spool/spool.ts'
import { logTo } from '../../clicks/report.ts'
import { backOff } from '../../lib/async/backoff.ts'
import type { MetricValues } from '../health/metrics.ts'
import type { Ledger } from '../log/ledger.ts'
import type { Engine, EngineEvents, EngineState } from './engine.ts'
import type { EngineData, FromEngine, ToEngine } from './messages.ts'

interface ThreadOptions {
  readonly spool: Spool
  readonly events: EngineEvents
  /** on which the service listens so far */
  readonly ports: () => readonly number[]
}

/** An engine in a thread of its own. */
export interface EngineThread extends Engine {
  /** The service listens on a port. */
  readonly listensOn: (port: number) => void
}

const file = new URL(`./worker${extname(import.meta.url)}`, import.meta.url)

/** What is known of an engine that does not answer. */
const silent = (why: string): EngineState => ({
  ...{ projector: undefined, relays: [], aside: [], recorder: undefined, weaknesses: [] },
  problems: [why],
})

/** ms that a scrape waits for the metrics of the engine */
const scrapeMs = 2000

/**
 * Starts the engine in a thread of its own, with a lower priority, on the database of the ledger. Should the thread end,
 * another one goes on where it was: what it has not recorded is in the spool.
 */
export const openEngineThread = (ledger: Ledger, { spool, events, ports }: ThreadOptions): EngineThread => {
  const { log } = ledger
  const ended = new AbortController()
  let state = silent('the engine is starting: nothing is counted or shown yet')
  let worker: Worker | undefined
  let isNew = true
  const scrapes: ((metrics: MetricValues) => void)[] = []
  /** Replies are heeded in order. */
  let heeding: Promise<void> = Promise.resolve()
  const post = (message: ToEngine) => worker?.postMessage(message)

  const react = (message: FromEngine) => {
    if (message.kind === 'state') ({ state } = message)
    if (message.kind === 'seen') void events.seen(message.filter, message.position)
    if (message.kind === 'recorded') events.recorded(message.partition, message.seq, message.position)
    if (message.kind === 'delivered') events.delivered()
    if (message.kind === 'spool') heeding = heeding.then(() => heed(spool, message.reply, logTo(log)))
    if (message.kind === 'metrics') for (const resolve of scrapes.splice(0)) resolve(message.metrics)
  }

  /** Runs one thread, until it ends. */
  const run = async () => {
    const data: EngineData = {
      config: { ...ledger.config, TRUST_PROXY: 0 },
      connection: ledger.connection,
      spool: { id: spool.id, isNew, found: spool.found, files: spool.files() },
      ports: ports(),
    }
    isNew = false
    const thread = new Worker(file, { workerData: data })
    worker = thread
    const exited = new AbortController()
    const exit = new Promise<void>((resolve) => thread.once('exit', () => resolve()))
    thread.on('message', react)
    thread.on('error', (error) => log.error({ err: error }, 'the engine failed'))
    void shareSpool(spool, (files) => thread.postMessage({ kind: 'spool', files } satisfies ToEngine), exited.signal)
    await exit
    exited.abort()
  }

  const keepRunning = async () => {
    const retries = backOff({ from: 1000, to: 10_000, signal: ended.signal })
    while (!ended.signal.aborted) {
      const began = performance.now()
      await run()
      if (ended.signal.aborted) return
      state = silent('the engine has ended and is started again: nothing is counted or shown meanwhile')
      log.error('the engine has ended; starting it again')
      if (performance.now() - began > 60_000) retries.reset()
      await retries.pause()
    }
  }
  const running = keepRunning()

  ledger.metrics.join(async () => {
    const metrics = new Promise<MetricValues>((resolve) => {
      scrapes.push(resolve)
      setTimeout(() => resolve([]), scrapeMs).unref()
    })
    post({ kind: 'metrics' })
    return metrics
  })

  return {
    state: () => state,
    look: (filter) => post({ kind: 'look', filter }),
    listensOn: (port) => post({ kind: 'port', port }),
    close: async () => {
      ended.abort()
      post({ kind: 'close' })
      await running
      await heeding
    },
  }
}
