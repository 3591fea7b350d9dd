import { openCache } from '../../cache/cache.ts'
import { handler } from '../../commands/handle.ts'
import { transactions } from '../../commands/transaction.ts'
import { listenOn } from '../../http/server/listen.ts'
import { readOnly } from '../../http/server/readonly.ts'
import { closeServer, createHttpServer, serve } from '../../http/server/server.ts'
import { type Cleanup, createCleanup, openAll } from '../../lib/cleanup.ts'
import { timestamp } from '../../lib/fields.ts'
import { OperatorError } from '../../lib/operatorerror.ts'
import { openConfiguredCountries } from '../countries.ts'
import { createSignal } from '../../lib/async/signal.ts'
import { sessions } from '../../postgres/database.ts'
import { destroyedKeys } from '../../postgres/keys.ts'
import { fillOnce } from '../../projections/engine/fill.ts'
import { projections } from '../../projections/index.ts'
import type { TableNames } from '../../projections/engine/projection.ts'
import { type AccountName, findAccountBy } from '../../queries/accounts/account.ts'
import { nameOf } from '../../security/keyring.ts'
import { logUntil, ordinalsUntil, storeUntil } from '../../store/until.ts'
import { cancellable } from '../cancellable.ts'
import { isOperatorHost, ourHosts } from '../site/hosts.ts'
import type { Ledger } from '../log/ledger.ts'
import { openMetrics } from '../health/metrics.ts'
import { createJobs } from '../health/standstill.ts'
import { openOwnSchema } from '../proof/ownschema.ts'
import { ownKey, replayAuth, todaysKeys } from './keys.ts'
import { replayEffects } from './effects.ts'
import { endOfReplay } from './ended.ts'
import type { Overrides } from '../overrides.ts'
import { openSite } from '../site/site.ts'

/** Up to where a log is replayed: the newest event appended up to a moment, or the event with this ordinal. */
export type Until = { readonly moment: Date } | { readonly event: number }

export interface ReplayOptions {
  readonly until: Until
  /** 0 picks a free one */
  readonly port: number
  /** account for which a key is made that works in the replay only */
  readonly account?: AccountName | undefined
  /** Called with the number of events that are replayed so far, and of all that will be. */
  readonly onProgress?: (replayed: number, all: number) => void
  /** Called with the name of a projection that cannot apply an event, and why: its tables have what comes before. */
  readonly onHalted?: (projection: string, reason: string) => void
  /** ends the replay while the tables are being filled */
  readonly signal?: AbortSignal
  readonly overrides?: Overrides
}

export interface Replay {
  /** Where it listens: http://host:port */
  readonly address: string
  /** what its clock shows */
  readonly moment: Date
  /** ordinal of its newest event */
  readonly event: number
  /** schema of its tables */
  readonly schema: string
  /** an API key that works here only */
  readonly key: string | undefined
  /** Aborts, with an error that says why, when it has to be closed: see `endOfReplay`. */
  readonly ended: AbortSignal
  /** Stops serving, and drops the tables. */
  readonly close: () => Promise<void>
}

/** Where in the log a replay ends. */
interface End {
  readonly position: bigint
  readonly ordinal: number
  readonly moment: Date
}

const findEnd = async ({ ordinals }: Pick<Ledger, 'ordinals'>, until: Until): Promise<End> => {
  if ('moment' in until) {
    const { moment } = until
    if (moment > new Date()) throw new OperatorError(`${timestamp(moment)} is in the future: choose an earlier moment`)
    const last = await ordinals.lastAt(moment)
    if (last) return { ...last, moment }
    throw new OperatorError(`the log has no events up to ${timestamp(moment)}: choose a later moment`)
  }
  const { event } = until
  const [position, at] = await Promise.all([ordinals.positionOf(event), ordinals.timeOf(event)])
  if (position !== undefined && at !== undefined) return { position, ordinal: event, moment: new Date(at) }
  throw new OperatorError(`the log has no event ${event}: its newest is event ${(await ordinals.head()) - 1}`)
}

/** ms that dropping the tables and each statement that fills them may take */
const timeoutMs = 60_000

/** Replays the log into separate tables. Returns their names. */
const fillTables = async (
  ledger: Ledger,
  end: End,
  schema: string,
  { onProgress, onHalted, signal }: Pick<ReplayOptions, 'onProgress' | 'onHalted'> & { readonly signal: AbortSignal },
): Promise<TableNames> => {
  const { db, stopped } = cancellable(ledger, { use: 'replay', max: 6, timeout: timeoutMs })
  const all = end.ordinal + 1
  let replayed = 0
  const store = storeUntil(ledger.store, end.position, (events) => onProgress?.((replayed += events), all))
  const own = projections.map((projection) => ({ ...projection, schema }))
  const filling = fillOnce({ ...ledger, db, store }, own, signal, {
    onHalted: ({ projection }, { message }) => onHalted?.(projection.name, message),
  })
  const stop = () => void stopped(filling).catch(() => {})
  signal.addEventListener('abort', stop)
  try {
    return await filling
  } finally {
    signal.removeEventListener('abort', stop)
    await db.destroy()
  }
}

/**
 * Returns the ledger as it was then. Nothing can be changed through it: appends are refused, and its connections only
 * read.
 */
const ledgerAt = async (
  ledger: Ledger,
  { position, ordinal, moment }: End,
  table: TableNames,
  cleanup: Cleanup,
): Promise<Ledger> => {
  const pool: Ledger['pool'] = (max, timeout, use = 'replay') => {
    const db = ledger.pool(max, timeout, use, sessions.readOnly)
    cleanup.defer(() => db.destroy())
    return db
  }
  const db = pool(10, 10_000)
  const store = storeUntil(ledger.store, position)
  return {
    ...ledger,
    // it sends no mails
    config: { ...ledger.config, SMTP_URL: undefined },
    db,
    store,
    stored: logUntil(ledger.stored, position),
    ordinals: ordinalsUntil(ledger.ordinals, ordinal),
    appended: createSignal(),
    projected: createSignal(),
    metrics: openMetrics(),
    jobs: createJobs(),
    handler: handler(store),
    transactions: transactions(store),
    tables: { name: table, refresh: async () => {}, complete: () => true, generation: () => 1 },
    reader: { db, table, now: moment, newestClicks: await store.head('clicks') },
    notify: async () => {},
    pool,
  }
}

const findAccount = async ({ db, reader }: Pick<Ledger, 'db' | 'reader'>, name: AccountName | undefined) => {
  if (name === undefined) return undefined
  const found = await findAccountBy(reader, name)
  if (!found || found.status === 'erased') throw new OperatorError('there was no such account at that moment')
  if ((await destroyedKeys(db, [nameOf(found.id)])).length > 0)
    throw new OperatorError('this account was erased since: its texts are gone')
  return found.id
}

const drainTimeout = 1000

/** Serves the past on a port. Returns its address and the key that works there only. */
const servePast = async (
  ledger: Ledger,
  past: Ledger,
  { position, moment, schema }: End & { readonly schema: string },
  { port: wanted, account, overrides = {} }: ReplayOptions,
  cleanup: Cleanup,
) => {
  const { config, keys } = past
  const redirectReader = { db: past.pool(4, 3000), table: past.tables.name }
  const cache = openCache({
    ...past,
    redirectReader,
    pepper: keys.service,
    start: position,
    isOperatorHost: isOperatorHost(config),
    trusted: () => true,
    onAccounts: () => {},
    onErased: async () => {},
    onProblem: (error, what) => past.log.error({ err: error }, what),
  })
  await cache.warm()
  const own = ownKey(keys.service, await findAccount(past, account))
  const auth = replayAuth(cache.auth, todaysKeys(ledger), own.auth, moment)
  const server = createHttpServer(config.KEEP_ALIVE_SECONDS, config.TRUST_PROXY)
  const port = await listenOn(server, wanted, config.HOST, { port: '--port', host: 'HOST' })
  cleanup.defer(async () => server.close())
  const site = openSite({
    ledger: past,
    cache: { ...cache, auth },
    redirectReader,
    countryOf: (await openConfiguredCountries(config)).of,
    recordVisit: async () => true,
    ...ourHosts(config, cache.domains, () => [port, config.PORT]),
    // answers name the addresses that they named then
    baseUrl: config.BASE_URL ?? `http://localhost:${config.PORT}`,
    overrides,
    operatorHealth: () => Promise.reject(new OperatorError('a replay has no operators')),
    effects: await replayEffects(past, schema, moment),
  })
  cleanup.defer(site.close)
  serve(server, { ...readOnly(site, timestamp(moment)), probes: {} })
  cleanup.defer(() => closeServer(server, drainTimeout))
  const host = config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST
  return { address: `http://${host}:${port}`, key: own.key }
}

/**
 * Serves the API as it was at an earlier moment, from tables of its own, which the projector fills from the log up to
 * there. Nothing can be changed, no click is recorded, and nothing is sent. Throws when the signal aborts before it
 * serves.
 */
export const startReplay = (ledger: Ledger, options: ReplayOptions): Promise<Replay> => {
  const cleanup = createCleanup((error) => ledger.log.error({ err: error }, 'closing failed'))
  return openAll(cleanup, async () => {
    const end = await findEnd(ledger, options.until)
    const db = ledger.pool(2, timeoutMs, 'replay')
    cleanup.defer(() => db.destroy())
    const { name: schema, lost } = await openOwnSchema(ledger, db, cleanup)
    const ended = await endOfReplay(ledger, db, lost, cleanup)
    const signal = AbortSignal.any([ended, ...(options.signal ? [options.signal] : [])])
    const table = await fillTables(ledger, end, schema, { ...options, signal })
    signal.throwIfAborted()
    const past = await ledgerAt(ledger, end, table, cleanup)
    const { address, key } = await servePast(ledger, past, { ...end, schema }, options, cleanup)
    const { moment, ordinal: event } = end
    return { address, moment, event, schema, key, ended, close: cleanup.run }
  })
}
