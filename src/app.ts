import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { link } from './commands/link.ts'
import { type Handler, handler } from './commands/handle.ts'
import { startRecorder } from './commands/record.ts'
import type { Config } from './config.ts'
import { lockDataDir } from './datadir.ts'
import { openSpool } from './events/clicklog/spool.ts'
import { codec } from './events/codec.ts'
import type { EventStore, Filter } from './events/store.ts'
import { type Bell, bell } from './events/store/bell.ts'
import { postgresStore } from './events/store/postgres.ts'
import { createApi } from './http/api.ts'
import { openAuth } from './http/auth.ts'
import { openLate } from './http/late.ts'
import { limiter } from './http/ratelimit.ts'
import { createRedirect } from './http/redirect.ts'
import { closeServer, createHttpServer, listenOn } from './http/server.ts'
import { openTargets } from './http/targets.ts'
import { normalHost } from './http/url.ts'
import { type Connection, type Database, migrate, openDatabase, openPool } from './postgres/database.ts'
import { runningEmbedded, startEmbedded } from './postgres/embedded.ts'
import { ids } from './postgres/ids.ts'
import { type Keys, openKeys } from './postgres/keyring.ts'
import { listen, openLocks } from './postgres/listen.ts'
import { projections } from './projections/index.ts'
import { openProgress } from './projections/progress.ts'
import { startProjector } from './projections/run.ts'
import { type Checkpoint, checkpoints, ensureCheckpoints, type LiveTables, liveTables } from './projections/tables.ts'
import { accountsChanged } from './queries/account.ts'
import { findKey } from './queries/key.ts'
import type { Reader } from './queries/reader.ts'
import { findTarget, linksChanged, type Target } from './queries/target.ts'
import { classifier } from './visitor/classify.ts'
import { openCountries } from './visitor/country.ts'

/** The log, the tables and the keys: what the service and every command work on. */
export interface Ledger {
  readonly config: Config
  readonly connection: Connection
  /** names this process in the database and to the others */
  readonly instance: string
  readonly db: Database
  readonly store: EventStore
  readonly appended: Bell
  readonly handler: Handler
  readonly keys: Keys
  readonly tables: LiveTables
  readonly reader: Reader
  readonly log: Logger
  readonly notify: (text: string) => Promise<unknown>
  /** A pool of its own, of at most `max` connections. */
  readonly pool: (max: number) => Database
  readonly close: () => Promise<void>
}

/** Who works with the embedded database: the service starts it, a command uses the one that runs, or starts it. */
export type Use = 'service' | 'command'

const openPostgres = async ({ DATABASE_URL, DATA_DIR }: Config, use: Use, log: Logger) => {
  const nothing = async () => {}
  if (DATABASE_URL !== undefined) return { connection: { connectionString: DATABASE_URL }, stop: nothing }
  const running = use === 'command' ? await runningEmbedded(DATA_DIR) : undefined
  if (running) return { connection: running, stop: nothing }
  return startEmbedded({
    dir: DATA_DIR,
    log: (line) => log.debug({ postgres: line }, 'PostgreSQL'),
    onCrash: (why) => log.error({ why }, 'PostgreSQL died and is started again'),
  })
}

export const openLedger = async (config: Config, log: Logger, use: Use): Promise<Ledger> => {
  const instance = `linkledger-${randomBytes(6).toString('hex')}`
  const postgres = await openPostgres(config, use, log)
  const { connection } = postgres
  const onError = (error: Error) => log.warn({ err: error }, 'a database connection was lost')
  const pools: { destroy: () => PromiseLike<unknown> }[] = []
  const pool = (max: number) => {
    const db = openDatabase(connection, { name: instance, max, timeout: 10_000, onError })
    pools.push(db)
    return db
  }
  const close = async () => {
    for (const db of pools.toReversed()) await db.destroy()
    await postgres.stop()
  }

  try {
    const db = pool(10)
    await migrate(db)
    await ensureCheckpoints(db)
    const keys = await openKeys(db, config.SECRET)
    const appends = openPool(connection, { name: instance, max: 8, timeout: 10_000, onError })
    pools.push({ destroy: () => appends.end() })
    const appended = bell()
    const store = await postgresStore(appends, codec(keys), appended)
    const tables = liveTables(db, projections)
    await tables.refresh()
    const notify = (text: string) => db.raw(`select pg_notify('linkledger', ?)`, [text])
    const reader = { db, table: tables.name }
    return {
      config,
      connection,
      instance,
      db,
      store,
      appended,
      handler: handler(store),
      keys,
      tables,
      reader,
      log,
      notify,
      pool,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Brings what stands in the log into the tables, unless another process does, and tells the others. */
export const project = (
  { db, store, connection, instance, log, tables }: Ledger,
  onSeen: (filter: Filter, position: bigint) => Promise<void>,
) =>
  startProjector({
    db,
    store,
    projections,
    openLocks: () => openLocks(connection, instance),
    instance,
    log,
    onSeen,
    onLive: tables.refresh,
  })

/** How far the tables have come, as far as their checkpoints tell. */
export const newestSeen = async (db: Database) => {
  const filtered = projections.filter(({ filter }) => filter === 'rest').map(({ name }) => name)
  const rows = await db<Checkpoint>(checkpoints).where({ live: true }).whereIn('projection', filtered)
  return rows.map(({ position }) => BigInt(position)).reduce((a, b) => (a > b ? a : b), 0n)
}

export interface App {
  /** where it listens: http://host:port */
  readonly address: string
  readonly baseUrl: string
  readonly ledger: Ledger
  readonly close: () => Promise<void>
}

/** The service: everything that one process does. */
export const startApp = async (config: Config, log: Logger): Promise<App> => {
  const folder = await lockDataDir(config.DATA_DIR)
  const closing: (() => Promise<unknown>)[] = [folder.release]
  const close = async () => {
    for (const step of closing.splice(0).toReversed())
      await step().catch((error: unknown) => log.error({ err: error }, 'closing failed'))
  }
  try {
    return await start(config, log, closing, close)
  } catch (error) {
    await close()
    throw error
  }
}

const start = async (
  config: Config,
  log: Logger,
  closing: (() => Promise<unknown>)[],
  close: () => Promise<void>,
): Promise<App> => {
  const ledger = await openLedger(config, log, 'service')
  closing.push(ledger.close)
  const { db, store, appended, instance, keys, tables, reader, notify } = ledger
  // redirects never wait for a connection that the API holds
  const redirectReader = { db: ledger.pool(4), table: tables.name }

  let baseUrl = config.BASE_URL ?? `http://localhost:${config.PORT}`
  const isOurs = (host: string) => normalHost(host) === normalHost(new URL(baseUrl).hostname)

  const progress = openProgress(await newestSeen(db), async (after, upTo) => {
    try {
      const [links, accounts] = await Promise.all([
        linksChanged(reader, after, upTo),
        accountsChanged(reader, after, upTo),
      ])
      targets.forgetLinks(links)
      if (accounts.length === 0) return
      targets.forgetAccounts(accounts)
      auth.forget(accounts)
      keys.forget(accounts)
    } catch {
      distrust()
    }
  })
  const listener = listen(ledger.connection, instance, {
    message: (text) => heard(text),
    up: () => distrust(),
    lost: (error) => log.warn({ err: error }, 'notifications are not heard: the database connection was lost'),
  })
  closing.push(listener.close)
  const auth = openAuth(keys.service, (key) => findKey(reader, key))
  const targets = openTargets({
    find: (domain, aliasKey) => findTarget(redirectReader, domain, aliasKey),
    trusted: listener.up,
    seen: progress.seen,
  })
  const distrust = () => {
    targets.distrust()
    auth.forgetAll()
  }
  const late = openLate(progress, (stream, position) => {
    const [kind, id] = stream.split('-')
    if (kind !== 'link') return
    void ledger.handler
      .load(link, stream)
      .then(({ state, revision, position: folded }) =>
        targets.pin(
          Number(id),
          position,
          state.status === 'open' ? targetOf(Number(id), state, revision, folded) : undefined,
        ),
      )
      .catch((error: unknown) => log.warn({ err: error }, 'a late link could not be read'))
  })

  /** What processes tell each other: `<what> <who> <more>`. */
  const heard = (text: string) => {
    const [what, who, first = '', second = ''] = text.split(' ')
    if (what === 'live') void tables.refresh().catch(distrust)
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
    if (!tables.complete()) void tables.refresh().catch(() => {})
  }, 1000)
  closing.push(async () => clearInterval(looking))

  const spool = await openSpool({
    dir: join(config.DATA_DIR, 'spool'),
    route: { log: 'local', partitions: 1 },
    log: (level, message, details) => log[level](details, message),
  })
  const countries = openCountries()
  const recorder = startRecorder({
    store,
    spool,
    keyring: keys,
    log: 'local',
    partitions: 1,
    classify: (visit, hash) => classifier({ countryOf: (address) => countries.of(address), isOurs, hash })(visit),
    onProblem: (error, what) => log.error({ err: error }, what),
  })
  closing.push(async () => {
    await spool.close()
    await recorder.stop()
  })

  const limits = limiter(db)
  const api = createApi({
    handler: ledger.handler,
    reader,
    late,
    nextId: { account: ids(db, 'account'), link: ids(db, 'link') },
    baseUrl: () => baseUrl,
    isOurs,
    pepper: keys.service,
    registration: config.REGISTRATION === 'open',
    auth,
    limiter: limits,
    progress,
    log,
    rateLimit: config.RATE_LIMIT_PER_MINUTE,
    trustProxy: config.TRUST_PROXY,
    tellLate: (stream, position) => {
      late.note(stream, position)
      void notify(`late ${instance} ${stream} ${position}`).catch(() => {})
    },
  })
  const redirect = createRedirect({
    targets,
    limiter: limits,
    pepper: keys.service,
    isOurs,
    record: spool.add,
    trustProxy: config.TRUST_PROXY,
    secureCookies: () => baseUrl.startsWith('https:'),
    log,
  })
  const readiness = () => {
    const problems = [
      ...(listener.up() ? [] : ['the database is not connected']),
      ...(tables.complete() ? [] : ['the read tables are being filled']),
      ...projector
        .state()
        .subscriptions.flatMap(({ filter, halted }) =>
          halted ? [`the subscription to ${filter} is halted at ${halted.position}: ${halted.reason}`] : [],
        ),
      ...(recorder.state().problem === undefined ? [] : ['clicks are not being recorded; they wait in the spool']),
    ]
    return { status: problems.length > 0 ? 503 : 200, body: { ready: problems.length === 0, problems } }
  }
  const server = createHttpServer({
    api: api.callback(),
    redirect,
    probes: { '/healthz': () => ({ status: 200, body: { status: 'ok' } }), '/readyz': readiness },
  })
  const port = await listenOn(server, config.PORT, config.HOST)
  baseUrl = config.BASE_URL ?? `http://localhost:${port}`
  closing.push(() => closeServer(server, 20_000))

  const host = config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST
  return { address: `http://${host}:${port}`, baseUrl, ledger, close }
}

const targetOf = (
  id: number,
  { account, fields, password }: ReturnType<typeof link.evolve>,
  revision: unknown,
  position: bigint,
): Target => ({
  ...fields,
  link: id,
  account,
  revision: Number(revision),
  position,
  aliasKey: fields.alias.toLowerCase(),
  password,
  expiry: fields.expiry === null ? null : new Date(fields.expiry),
})
