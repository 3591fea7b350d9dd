import type { Logger } from 'pino'
import { kafkaSettings, openClicks } from './clicks.ts'
import type { Config } from '../config.ts'
import { lockDataDir } from '../lib/folderlock.ts'
import type { Filter } from '../events/store.ts'
import { openCache } from '../cache/cache.ts'
import { closeServer, createHttpServer, listenOn, nothingHere } from '../http/server.ts'
import { normalHost } from '../lib/url.ts'
import { type Ledger, newestSeen, openLedger, project } from './ledger.ts'
import { watchService } from './metrics.ts'
import { type Outside, openSite } from './site.ts'
import { listen } from '../postgres/listen.ts'
import { decode } from '../postgres/notifications.ts'
import { openCountries } from '../visitor/country.ts'

export interface App {
  /** where it listens: http://host:port */
  readonly address: string
  readonly baseUrl: string
  readonly ledger: Ledger
  readonly close: () => Promise<void>
}

/** Steps of closing, in the order of opening: they are taken from the end. */
type Step = () => Promise<unknown>
/** So many events are looked at for what the tables are late with; tables that are further behind are being filled anew. */
const mostLate = 1000

/** The service: everything that one process does. */
export const startApp = async (config: Config, log: Logger, outside: Outside = {}): Promise<App> => {
  const folder = await lockDataDir(config.DATA_DIR)
  const closing: Step[] = [folder.release]
  const close = async () => {
    for (const step of closing.splice(0).toReversed())
      await step().catch((error: unknown) => log.error({ err: error }, 'closing failed'))
  }
  try {
    return await start(config, log, outside, closing, close)
  } catch (error) {
    await close()
    throw error
  }
}

const start = async (
  config: Config,
  log: Logger,
  outside: Outside,
  closing: Step[],
  close: () => Promise<void>,
): Promise<App> => {
  const ledger = await openLedger(config, log, 'service')
  closing.push(ledger.close)
  const { db, store, appended, handler, instance, keys, metrics, tables, reader } = ledger
  const onProblem = (error: unknown, what: string) => log.error({ err: error }, what)

  let baseUrl = config.BASE_URL ?? `http://localhost:${config.PORT}`
  const isOwnHost = (host: string) => normalHost(host) === normalHost(new URL(baseUrl).hostname)
  const isOurs = (host: string) =>
    isOwnHost(host) || [host, normalHost(host)].some((name) => cache.domains.byHost(name))

  const seenAtStart = await newestSeen(db)
  const listener = listen(ledger.connection, instance, {
    message: (text) => heard(text),
    up: () => {
      // other tables may be read since, and nobody told us
      void tables.refresh().then(cache.invalidateAll, cache.invalidateAll)
      void noteLate().catch(() => {})
    },
    lost: (error) => log.warn({ err: error }, 'notifications are not heard: the database connection was lost'),
  })
  closing.push(listener.close)
  const redirectReader = { db: ledger.pool(4, 3000), table: tables.name }
  const cache = openCache({
    handler,
    reader,
    redirectReader,
    pepper: keys.service,
    start: seenAtStart,
    trusted: listener.up,
    onAccounts: keys.forget,
    onErased: keys.destroy,
    onProblem,
  })
  const { progress, pending } = cache

  /** What stands in the log and not yet in the tables was told to others, before we listened: it is late for us too. */
  const noteLate = async () => {
    const head = await store.head('domain')
    if (head <= progress.seen()) return
    const reading = new AbortController()
    let noted = 0
    for await (const events of store.subscribe({
      after: progress.seen(),
      filter: 'domain',
      limit: 500,
      signal: reading.signal,
    })) {
      // each stream once: whoever notes it reads the whole of it
      for (const [stream, position] of new Map(events.map((event) => [event.stream, event.position])))
        pending.add(stream, position)
      noted += events.length
      if (noted >= mostLate || (events.at(-1)?.position ?? 0n) >= head) break
    }
    reading.abort()
  }
  const heard = (text: string) => {
    const notification = decode(text)
    if (notification?.kind === 'replaced') void tables.refresh().then(cache.invalidateAll, cache.invalidateAll)
    if (notification === undefined || notification.from === instance) return
    if (notification.kind === 'appended') appended.notify()
    if (notification.kind === 'projected' && notification.filter === 'domain')
      void progress.advance(notification.position)
    if (notification.kind === 'pending') pending.add(notification.stream, notification.position)
  }

  // tables that are not there yet are learnt when they are
  await cache.warm().catch(() => {})
  await noteLate().catch(() => {})

  const onSeen = async (filter: Filter, position: bigint) => {
    if (filter === 'domain') await progress.advance(position)
  }
  const projector = config.ROLES.has('projector') ? project(ledger, onSeen) : undefined
  closing.push(async () => projector?.stop())

  // behind all notifications stands a look, should one be lost
  const looking = setInterval(() => {
    appended.notify()
    void newestSeen(db).then(progress.advance, () => {})
    void tables.refresh().catch(() => {})
  }, 1000)
  closing.push(async () => clearInterval(looking))

  const countries = openCountries()
  const clicks = await openClicks({
    store,
    keyring: keys,
    logger: log,
    dataDir: config.DATA_DIR,
    kafka: kafkaSettings(config),
    countryOf: countries.of,
    isOurs,
  })
  closing.push(clicks.close)
  if (config.ROLES.has('relay')) await clicks.startRelay()
  if (config.ROLES.has('recorder')) clicks.startRecorder()

  const site = config.ROLES.has('http')
    ? openSite({
        ledger,
        cache,
        redirectReader,
        countryOf: countries.of,
        recordVisit: clicks.add,
        isOurs,
        isOwnHost,
        baseUrl: () => baseUrl,
        outside,
      })
    : undefined
  closing.push(async () => site?.close())

  /** What keeps this process from answering; who balances load sends nobody here meanwhile. */
  const obstacles = () => [
    ...(listener.up() ? [] : ['the database is not connected']),
    ...(tables.complete() ? [] : ['the read tables are being filled']),
    ...(projector?.state().subscriptions ?? []).flatMap(({ filter, halted }) =>
      halted ? [`the subscription to ${filter} is halted at ${halted.position}: ${halted.reason}`] : [],
    ),
  ]
  watchService(metrics, { store, projector, clicks })
  const server = createHttpServer({
    ...(site ?? { api: nothingHere, redirect: nothingHere, below: {} }),
    metrics: metrics.text,
    probes: {
      '/healthz': () => ({ status: 200, body: { status: 'ok' } }),
      '/readyz': () => {
        const found = obstacles()
        const ready = found.length === 0
        // clicks that wait to be counted keep no visitor from where he wants to go
        return { status: ready ? 200 : 503, body: { ready, problems: [...found, ...clicks.problems()] } }
      },
    },
  })
  const port = await listenOn(server, config.PORT, config.HOST)
  baseUrl = config.BASE_URL ?? `http://localhost:${port}`
  closing.push(() => closeServer(server, 20_000))

  const host = config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST
  return { address: `http://${host}:${port}`, baseUrl, ledger, close }
}
