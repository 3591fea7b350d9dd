import { join } from 'node:path'
import type { Logger } from 'pino'
import { startRecorder } from './commands/record.ts'
import type { Config } from './config.ts'
import { lockDataDir } from './datadir.ts'
import { openSpool } from './events/clicklog/spool.ts'
import { createApi } from './http/api.ts'
import { createCampaignPages } from './http/campaign.ts'
import { type Resolver, pointsTo } from './http/dns.ts'
import { startDomainChecks } from './http/domaincheck.ts'
import { type GuardedFetch, openFetch } from './http/fetch.ts'
import { openMemory } from './http/memory.ts'
import { createQrPages } from './http/qr.ts'
import { limiter } from './http/ratelimit.ts'
import { createRedirect } from './http/redirect.ts'
import { closeServer, createHttpServer, listenOn } from './http/server.ts'
import { normalHost } from './http/url.ts'
import { type Ledger, newestSeen, openLedger, project } from './ledger.ts'
import { allIds } from './postgres/ids.ts'
import { listen } from './postgres/listen.ts'
import { openImages } from './qr/images.ts'
import { classifier } from './visitor/classify.ts'
import { openCountries } from './visitor/country.ts'

export interface App {
  /** where it listens: http://host:port */
  readonly address: string
  readonly baseUrl: string
  readonly ledger: Ledger
  readonly close: () => Promise<void>
}

/** The world beyond, as far as it is asked; a test puts its own in its place. */
export interface Outside {
  readonly resolver?: Resolver
  readonly guardedFetch?: GuardedFetch
}
/** Steps of closing, in the order of opening: they are taken from the end. */
type Step = () => Promise<unknown>
/** So many events are looked at for what the tables are late with; tables that are further behind are being filled anew. */
const mostLate = 1000
/** Without Kafka the spool is the click log; its one partition is the stream `clicks-local-0`. */
const clickLog = { log: 'local', partitions: 1 } as const

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
  const { db, store, appended, handler, instance, keys, tables, reader, notify } = ledger
  const onProblem = (error: unknown, what: string) => log.error({ err: error }, what)

  let baseUrl = config.BASE_URL ?? `http://localhost:${config.PORT}`
  const isOwnHost = (host: string) => normalHost(host) === normalHost(new URL(baseUrl).hostname)
  const isOurs = (host: string) =>
    isOwnHost(host) || [host, normalHost(host)].some((name) => memory.domains.byHost(name))

  const seenAtStart = await newestSeen(db)
  const listener = listen(ledger.connection, instance, {
    message: (text) => heard(text),
    up: () => {
      // other tables may be read since, and nobody told us
      void tables.refresh().then(memory.distrust, memory.distrust)
      void noteLate().catch(() => {})
    },
    lost: (error) => log.warn({ err: error }, 'notifications are not heard: the database connection was lost'),
  })
  closing.push(listener.close)
  const redirectReader = { db: ledger.pool(4), table: tables.name }
  const memory = openMemory({
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
  const { progress, late } = memory

  /** What stands in the log and not yet in the tables was told to others, before we listened: it is late for us too. */
  const noteLate = async () => {
    const head = await store.head('rest')
    if (head <= progress.seen()) return
    const reading = new AbortController()
    let noted = 0
    for await (const events of store.subscribe({
      after: progress.seen(),
      filter: 'rest',
      limit: 500,
      signal: reading.signal,
    })) {
      // each stream once: whoever notes it reads the whole of it
      for (const [stream, position] of new Map(events.map((event) => [event.stream, event.position])))
        late.note(stream, position)
      noted += events.length
      if (noted >= mostLate || (events.at(-1)?.position ?? 0n) >= head) break
    }
    reading.abort()
  }
  // tables that are not there yet are learnt when they are
  await memory.learn().catch(() => {})
  await noteLate().catch(() => {})

  /** What processes tell each other: `<what> <who> <more>`. */
  const heard = (text: string) => {
    const [what, who, first = '', second = ''] = text.split(' ')
    if (what === 'live') void tables.refresh().then(memory.distrust, memory.distrust)
    if (who === instance) return
    if (what === 'log') appended.ring()
    if (what === 'seen' && first === 'rest') void progress.advance(BigInt(second))
    if (what === 'late') late.note(first, BigInt(second))
  }
  const projector = project(ledger, async (filter, position) => {
    if (filter === 'rest') await progress.advance(position)
  })
  closing.push(projector.stop)

  // behind all notifications stands a look, should one be lost
  const looking = setInterval(() => {
    appended.ring()
    void newestSeen(db).then(progress.advance, () => {})
    void tables.refresh().catch(() => {})
  }, 1000)
  closing.push(async () => clearInterval(looking))

  const spool = await openSpool({
    dir: join(config.DATA_DIR, 'spool'),
    route: clickLog,
    log: (level, message, details) => log[level](details, message),
  })
  const countries = openCountries()
  let visits = 0
  const recorder = startRecorder({
    store,
    spool,
    keyring: keys,
    ...clickLog,
    classify: (visit, hash) => classifier({ countryOf: countries.of, isOurs, hash })(visit),
    onProblem,
    arrived: () => visits,
  })
  closing.push(async () => {
    await spool.close()
    await recorder.stop()
  })

  const pointsToUs = async (host: string) =>
    config.DOMAIN_CHECK === 'off' || pointsTo(host, config.DOMAIN_TARGETS, outside.resolver)
  if (config.DOMAIN_CHECK === 'dns') closing.push(startDomainChecks({ db, reader, handler, pointsToUs, onProblem }))

  const images = openImages()
  closing.push(images.close)

  const shared = { ...memory, limiter: limiter(db), pepper: keys.service, isOurs, trustProxy: config.TRUST_PROXY, log }
  const api = createApi({
    ...shared,
    handler,
    reader,
    nextId: allIds(db),
    baseUrl: () => baseUrl,
    registration: config.REGISTRATION === 'open',
    isOwnHost,
    pointsToUs,
    domainTargets: config.DOMAIN_TARGETS,
    guardedFetch: outside.guardedFetch ?? openFetch(),
    images,
    rateLimit: config.RATE_LIMIT_PER_MINUTE,
    tellLate: (stream, position) => {
      late.note(stream, position)
      void notify(`late ${instance} ${stream} ${position}`).catch(() => {})
    },
  })
  const redirect = createRedirect({
    ...shared,
    countryOf: countries.of,
    record: (visit) => {
      visits++
      return spool.add(visit)
    },
    secureCookies: () => baseUrl.startsWith('https:'),
  })

  const campaignPages = createCampaignPages({
    ...redirect,
    ...memory,
    handler,
    reader: redirectReader,
    baseUrl: () => baseUrl,
  })

  const qrPages = createQrPages({
    ...redirect,
    handler,
    reader: redirectReader,
    late,
    images,
    isOwnHost,
    baseUrl: () => baseUrl,
  })

  const problems = () => [
    ...(listener.up() ? [] : ['the database is not connected']),
    ...(tables.complete() ? [] : ['the read tables are being filled']),
    ...projector
      .state()
      .subscriptions.flatMap(({ filter, halted }) =>
        halted ? [`the subscription to ${filter} is halted at ${halted.position}: ${halted.reason}`] : [],
      ),
    ...(recorder.state().problem === undefined ? [] : ['clicks are not being recorded: they wait in the spool']),
  ]
  const server = createHttpServer({
    api: api.callback(),
    redirect: redirect.handle,
    below: { '/r/': campaignPages, '/u/': campaignPages, '/qr/': qrPages },
    probes: {
      '/healthz': () => ({ status: 200, body: { status: 'ok' } }),
      '/readyz': () => {
        const found = problems()
        return { status: found.length > 0 ? 503 : 200, body: { ready: found.length === 0, problems: found } }
      },
    },
  })
  const port = await listenOn(server, config.PORT, config.HOST)
  baseUrl = config.BASE_URL ?? `http://localhost:${port}`
  closing.push(() => closeServer(server, 20_000))

  const host = config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST
  return { address: `http://${host}:${port}`, baseUrl, ledger, close }
}
