import { parentPort, workerData } from 'node:worker_threads'
import { openShared } from '../../clicks/spool/shared.ts'
import { openCountries, readCountryTable } from '../../clicks/visitor/geoip.ts'
import { createCleanup } from '../../lib/cleanup.ts'
import { background, lowerPriority } from '../../lib/thread.ts'
import { createLogger } from '../../logger.ts'
import { registerJobs } from '../health/gauges.ts'
import { type Ledger, openLedger } from '../log/ledger.ts'
import { ourHosts } from '../site/hosts.ts'
import { openView } from '../log/view.ts'
import { type Engine, startEngine } from './engine.ts'
import type { EngineData, FromEngine, ToEngine } from './messages.ts'

/** ms between two reports of what the engine is doing */
const reportMs = 200

const send = (message: FromEngine) => parentPort?.postMessage(message)

const { config, partOf, spool: handle, ports: known, countries: file } = workerData as EngineData
const ports = [...known]
const shared = openShared(handle, (reply) => send({ kind: 'spool', reply }))
const log = createLogger(config)
const cleanup = createCleanup((error) => log.error({ err: error }, 'closing failed'))
// the thread of the requests follows the file, and shares its memory
const countries = openCountries(readCountryTable(file))
const starting = setInterval(() => send({ kind: 'starting' }), reportMs)
let running: { readonly ledger: Ledger; readonly engine: Engine } | undefined

/** the questions that are not answered yet */
const questions = new Map<number, (isBlocked: boolean) => void>()
let asked = 0
const isBlocked = (url: string) =>
  new Promise<boolean>((resolve) => {
    questions.set(++asked, resolve)
    send({ kind: 'blocked', id: asked, url })
  })

const start = async () => {
  // elsewhere it would be that of the whole process
  if (process.platform === 'linux') lowerPriority(background)
  const ledger = await openLedger(config, log, 'service', { partOf })
  cleanup.defer(ledger.close)
  registerJobs(ledger)
  // the thread of the requests notes erasures
  const { cache, retries } = await openView(ledger, async () => {}, cleanup)
  const { isOurHost } = ourHosts(config, cache.domains, () => ports)
  const engine = await startEngine(
    ledger,
    {
      ...{ spool: shared.spool, retries, countryOf: countries.of, isOurHost, overrides: {} },
      events: {
        isBlocked,
        seen: async (filter, position) => {
          send({ kind: 'seen', filter, position })
          if (filter === 'domain') await cache.progress.advance(position)
        },
        recorded: (partition, seq, position) => send({ kind: 'recorded', partition, seq, position }),
        delivered: () => send({ kind: 'delivered' }),
      },
    },
    cleanup,
  )
  cleanup.defer(engine.close)
  running = { ledger, engine }
  clearInterval(starting)
  const report = () => {
    const { problems, ...state } = engine.state()
    send({ kind: 'state', state: { ...state, problems: [...problems, ...ledger.jobs.problems()] } })
  }
  report()
  const reporting = setInterval(report, reportMs)
  cleanup.defer(async () => clearInterval(reporting))
}

const close = async () => {
  await cleanup.run()
  process.exit()
}

let closing: Promise<void> | undefined
parentPort?.on('message', (message: ToEngine) => {
  if (message.kind === 'spool') shared.update(message.files, message.stats)
  if (message.kind === 'countries') countries.use(readCountryTable(message.file))
  if (message.kind === 'port') ports.push(message.port)
  if (message.kind === 'blocked') {
    questions.get(message.id)?.(message.isBlocked)
    questions.delete(message.id)
  }
  if (message.kind === 'look') running?.engine.look(message.filter)
  if (message.kind === 'metrics')
    void Promise.resolve(running?.ledger.metrics.values() ?? []).then((metrics) => send({ kind: 'metrics', metrics }))
  if (message.kind === 'close') closing ??= close()
})
void start().catch(async (error: unknown) => {
  if (closing) return
  log.error({ err: error }, 'the engine could not be started')
  await cleanup.run()
  process.exit(1)
})
