import { extname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { heed, shareSpool } from '../../clicks/spool/shared.ts'
import type { Spool } from '../../clicks/spool/spool.ts'
import type { Countries } from '../../clicks/visitor/geoip.ts'
import { logTo } from '../../clicks/report.ts'
import { backOff } from '../../lib/async/backoff.ts'
import { startProgram } from '../../lib/thread.ts'
import { countedBy, type Metrics, type MetricValues } from '../health/metrics.ts'
import type { Ledger } from '../log/ledger.ts'
import { reportLeft } from '../log/recording.ts'
import type { Overrides } from '../overrides.ts'
import type { Engine, EngineEvents } from './engine.ts'
import type { EngineData, FromEngine, ToEngine } from './messages.ts'
import { createReports, type Reports } from './reports.ts'

interface ThreadOptions {
  readonly spool: Spool
  readonly events: EngineEvents
  readonly countries: Countries
  /** on which the service listens so far */
  readonly ports: () => readonly number[]
  readonly threads?: Overrides['engineThreads']
}

/** An engine in a separate thread. */
export interface EngineThread extends Engine {
  /** The service listens on a port. */
  readonly listensOn: (port: number) => void
  /** Whether the engine has begun to work. */
  readonly works: () => boolean
}

const file = new URL(`./run${extname(import.meta.url)}`, import.meta.url).href

/** ms that a scrape waits for the metrics of the engine, which are then those of the last one: counters do not fall */
const scrapeMs = 2000

/** Collects the answers to scrapes. */
const createScrapes = () => {
  const waiting: ((metrics: MetricValues) => void)[] = []
  let last: MetricValues = []
  /** of the threads that have ended */
  let before: MetricValues = []
  const answered = (isSilent: boolean) =>
    new Promise<MetricValues>((resolve) => {
      if (isSilent) return resolve(last)
      waiting.push(resolve)
      setTimeout(() => resolve(last), scrapeMs).unref()
    })
  return {
    next: async (isSilent: boolean) => [before, await answered(isSilent)],
    answer: (metrics: MetricValues) => {
      last = metrics
      for (const resolve of waiting.splice(0)) resolve(metrics)
    },
    /** Called when the thread has ended. Its counts stay. */
    ended: async () => {
      const given = last
      last = []
      before = await countedBy([before, given])
    },
  }
}

interface Running {
  readonly thread: Worker
  readonly post: (message: ToEngine) => void
  readonly ended: Promise<void>
}

/** Starts one thread, and sends it the state of the spool until it ends. */
const startThread = (
  { config, connection, instance, log }: Pick<Ledger, 'config' | 'connection' | 'instance' | 'log'>,
  spool: Spool,
  { countries, ...given }: Pick<EngineData, 'ports'> & { readonly isNew: boolean; readonly countries: Countries },
  react: (message: FromEngine) => Promise<void>,
  start: typeof startProgram,
): Running => {
  const { id, found } = spool
  const workerData: EngineData = {
    config: { ...config, TRUST_PROXY: 0 },
    partOf: { connection, instance },
    spool: { id, isNew: given.isNew, found, files: spool.files(), stats: spool.stats() },
    ports: given.ports,
    countries: countries.table().file,
  }
  const thread = start(file, { workerData })
  const exited = new AbortController()
  const post = (message: ToEngine) => thread.postMessage(message)
  thread.on('message', (message: FromEngine) => void react(message))
  thread.on('error', (error) => log.error({ err: error }, 'the engine failed'))
  void shareSpool(spool, (files, stats) => post({ kind: 'spool', files, stats }), exited.signal)
  const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve(exited.abort())))
  return { thread, post, ended }
}

interface Reacting extends Pick<ThreadOptions, 'spool' | 'events'> {
  readonly log: Ledger['log']
  readonly reports: Reports
  readonly scrapes: ReturnType<typeof createScrapes>
  readonly post: (message: ToEngine) => void
}

/** Returns what handles the messages of the engine. */
const createReactions = ({ spool, events, log, reports, scrapes, post }: Reacting) => {
  /** Replies are heeded in order. */
  let heeding: Promise<void> = Promise.resolve()
  const react = async (message: FromEngine) => {
    if (message.kind === 'starting') reports.starting()
    if (message.kind === 'state') reports.heard(message.state)
    if (message.kind === 'seen') await events.seen(message.filter, message.position)
    if (message.kind === 'recorded') events.recorded(message.partition, message.seq, message.position)
    if (message.kind === 'delivered') events.delivered()
    if (message.kind === 'spool') heeding = heeding.then(() => heed(spool, message.reply, logTo(log)))
    if (message.kind === 'metrics') scrapes.answer(message.metrics)
    if (message.kind === 'blocked')
      post({ kind: 'blocked', id: message.id, isBlocked: await events.isBlocked(message.url) })
  }
  return { react, heeded: () => heeding }
}

/** Adds what the engine measures to the metrics, and how often it was started again. */
const measure = (
  { join, registerCounter }: Pick<Metrics, 'join' | 'registerCounter'>,
  scrape: () => Promise<readonly MetricValues[]>,
  restarts: () => number,
) => {
  join(scrape)
  registerCounter({
    name: 'linkledger_engine_restarts_total',
    help: 'Times that the thread that records visits and fills the read tables has ended, and was started again',
    read: restarts,
  })
}

/** ms beyond DRAIN_TIMEOUT_SECONDS after which an engine that is to end is ended, and of one that does not answer */
const [closeMs, silentMs] = [15_000, 2000]

/**
 * Starts the engine in a thread of its own, with a lower priority, on the database of the ledger. When the thread ends,
 * or does not answer for a minute, another one goes on where it was: what is not recorded is in the spool.
 */
export const openEngineThread = (
  ledger: Ledger,
  { spool, events, countries, ports, threads: { start = startProgram, checkMs } = {} }: ThreadOptions,
): EngineThread => {
  const { config, log, metrics } = ledger
  const closing = new AbortController()
  const scrapes = createScrapes()
  let thread: Running | undefined
  let restarts = 0
  const post = (message: ToEngine) => thread?.post(message)
  const end = (reason: string) => {
    log.error(`the engine ${reason}; it is ended`)
    void thread?.thread.terminate()
  }
  const reports = createReports(spool, () => end('does not answer'), checkMs)

  const { react, heeded } = createReactions({ spool, events, log, reports, scrapes, post })

  const keepRunning = async () => {
    const retries = backOff({ from: 1000, to: 10_000, signal: closing.signal })
    for (let isNew = true; !closing.signal.aborted; isNew = false) {
      const began = performance.now()
      thread = startThread(ledger, spool, { isNew, countries, ports: ports() }, react, start)
      await thread.ended
      if (closing.signal.aborted) return
      reports.ended()
      await scrapes.ended()
      restarts++
      log.error('the engine has ended; it is started again')
      if (performance.now() - began > 60_000) retries.reset()
      await retries.pause()
    }
  }
  const running = keepRunning()
  countries.onUse(({ file }) => post({ kind: 'countries', file }))
  measure(
    metrics,
    () => {
      post({ kind: 'metrics' })
      return scrapes.next(reports.isSilent())
    },
    () => restarts,
  )
  return {
    works: reports.works,
    state: reports.state,
    look: (filter) => post({ kind: 'look', filter }),
    listensOn: (port) => post({ kind: 'port', port }),
    close: async () => {
      closing.abort()
      const drains = reports.works() && !reports.isSilent()
      post({ kind: 'close' })
      const ms = reports.isSilent() ? silentMs : config.DRAIN_TIMEOUT_SECONDS * 1000 + closeMs
      const isLate = await Promise.race([running, sleep(ms, true, { ref: false })])
      if (isLate) end('does not end by itself')
      await running
      reports.stop()
      await heeded()
      // an engine that drains reports them itself
      if (!drains || isLate) reportLeft(ledger, reports.left())
    },
  }
}
