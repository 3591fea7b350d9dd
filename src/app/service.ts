import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { ensureListenable } from '../http/server/listen.ts'
import { type Cleanup, createCleanup, openAll } from '../lib/cleanup.ts'
import { inDataDir } from '../lib/datadir.ts'
import { lockDataDir } from '../lib/folderlock.ts'
import { dropLeftSchemas } from '../postgres/replays.ts'
import { watchLongTurns } from './health/longturns.ts'
import { startBlockLists } from './blocklists.ts'
import { startClicks } from './engine/open.ts'
import { followCountries } from './countries.ts'
import { registerJobs } from './health/gauges.ts'
import { ourHosts } from './site/hosts.ts'
import { createFollowUp } from './log/erasures.ts'
import { linkToFirstAccount } from './accounts/firstaccount.ts'
import { startHttp } from './http.ts'
import { type Ledger, openLedger } from './log/ledger.ts'
import { ensureOperatorPort, startOperatorPort } from './operator/port.ts'
import { watchProjecting } from './log/projecting.ts'
import { operatorRoutes } from './operator/routes.ts'
import { readiness } from './health/readiness.ts'
import { reportRules } from './health/rules.ts'
import { openOperatorHealth } from './operator/view.ts'
import type { Overrides } from './overrides.ts'
import { openSite } from './site/site.ts'
import { leaveOutIdsOfLost } from './proof/lostids.ts'
import { openView } from './log/view.ts'
import { type Listening, listenWaiting, type WaitingStart } from './waiting.ts'

export interface App {
  /** The address that it listens on: http://host:port */
  readonly address: string
  /** The address of metrics and details of readiness: http://host:port */
  readonly operatorAddress: string
  readonly baseUrl: string
  readonly ledger: Ledger
  /** address of a page that creates the first account; undefined unless it is needed */
  readonly firstAccount: string | undefined
  readonly close: () => Promise<void>
}

/**
 * Starts the service: everything that one process does, by its ROLES. Waits for the event store only with `waiting`.
 */
export const startApp = (config: Config, log: Logger, overrides: Overrides = {}, waiting?: WaitingStart) => {
  const cleanup = createCleanup((error) => log.error({ err: error }, 'closing failed'))
  return openAll(cleanup, async () => {
    const app = await start(config, log, { overrides, waiting, cleanup }).catch((error: unknown) => {
      throw inDataDir(config.DATA_DIR, error)
    })
    // after the start, which may block the event loop without delaying a request
    cleanup.defer(watchLongTurns(log, app.ledger.metrics))
    return app
  })
}

/** ms that a start waits for the engine, and for read tables that are filled for the first time */
const wholeMs = 20_000
/** ms that a start waits until the read tables have the erasures of the register */
const erasureTimeout = 30_000

interface StartOptions {
  readonly overrides: Overrides
  readonly waiting: WaitingStart | undefined
  readonly cleanup: Cleanup
}

const start = async (config: Config, given: Logger, { overrides, waiting, cleanup }: StartOptions): Promise<App> => {
  const { ledger, listening } = await openData(config, given, waiting, cleanup)
  const { log } = ledger
  await dropLeftSchemas(ledger.db).catch((error: unknown) => log.warn({ err: error }, 'tables of a replay are left'))
  const view = await openView(ledger, noteErasures(ledger), cleanup)
  const { cache, listener, notifications, redirectReader } = view
  const ports: number[] = []
  const hosts = ourHosts(config, cache.domains, () => ports)
  const countries = await followCountries(ledger, cleanup)
  const { of: countryOf } = countries
  const visitors = { countries, isOurHost: hosts.isOurHost }
  // before the engine delivers to webhooks, whose addresses they may block
  if (config.ROLES.has('http')) cleanup.defer(await startBlockLists(ledger, cache.blocks))
  const clicks = await startClicks(ledger, { view, visitors, ports, overrides }, cleanup)
  const { engine } = clicks
  const lag = watchProjecting(ledger, cache, engine, cleanup)

  // tables that are filled for the first time are not read before they have the erasures
  if (ledger.tables.complete()) await cache.progress.wait(ledger.erasedUpTo, erasureTimeout)
  const problems = readiness({
    ...ledger,
    listener,
    notifications,
    projector: () => engine.state().projector,
    lag,
    clicks,
    redirects: config.ROLES.has('http'),
    jobProblems: () => [...engine.state().problems, ...ledger.jobs.problems()],
    halted: notifications.halted,
    maxLag: config.READY_MAX_LAG_SECONDS,
  })
  const settings = { ...config, ...(await listening?.end()) }
  const operatorAddress = await startOperatorPort(settings, operatorRoutes(ledger, problems, hosts.servesHost), {
    log,
    cleanup,
  })
  const { address, baseUrl } = await startHttp(settings, {
    problems,
    isOurHost: hosts.isOurHost,
    openSite: (baseUrl, port) => {
      ports.push(port)
      engine.listensOn(port)
      const operatorHealth = openOperatorHealth(ledger, problems, clicks.state)
      const visits = { countryOf, recordVisit: clicks.add }
      return openSite({ ledger, cache, redirectReader, ...visits, ...hosts, baseUrl, overrides, operatorHealth })
    },
    cleanup,
    log,
    registerCounter: ledger.metrics.registerCounter,
  })
  const firstAccount = await linkToFirstAccount(ledger, baseUrl)
  await reportRules(ledger, ledger.reader).catch((error: unknown) =>
    log.warn({ err: error }, 'rules were not compared'),
  )
  waiting?.onListening?.()
  // redirects work already; the start is reported once changes can be read, too
  const isWhole = () => engine.works() && (ledger.tables.complete() || !config.ROLES.has('projector'))
  for (let left = wholeMs; left > 0 && !isWhole() && !waiting?.signal.aborted; left -= 50) await sleep(50)
  return { address, operatorAddress, baseUrl, ledger, firstAccount, close: cleanup.run }
}

/**
 * Opens the ledger, in a data folder that no other service uses. Returns the servers that listen already, if it had to
 * wait.
 */
const openData = async (config: Config, log: Logger, waiting: WaitingStart | undefined, cleanup: Cleanup) => {
  const folder = await lockDataDir(config.DATA_DIR)
  cleanup.defer(folder.release)
  await ensureListenable(config.PORT, config.HOST)
  await ensureOperatorPort(config)
  let listening: Listening | undefined
  const onWaiting = async (problem: () => string) => {
    listening = await listenWaiting(config, problem, { log, cleanup })
    waiting?.onWaiting(listening, problem())
  }
  const options = waiting && { waiting: { onWaiting, signal: waiting.signal, timeoutMs: waiting.timeoutMs } }
  const ledger = await openLedger(config, log, 'service', options)
  cleanup.defer(ledger.close)
  registerJobs(ledger)
  await leaveOutIdsOfLost(ledger)
  return { ledger, listening }
}

/** Returns a function that records erasures in the register. */
const noteErasures = (ledger: Ledger) => {
  const register = ledger.jobs.open('erasure_register', 'erasures are not noted in DATA_DIR/erasures')
  return createFollowUp(ledger, {
    ...register,
    failed: (error) => {
      // without the log, there is nothing to record yet
      if (ledger.logCheck.problem() !== undefined) return
      register.failed(error)
      ledger.log.error({ err: error }, 'DATA_DIR/erasures could not be written')
    },
  })
}
