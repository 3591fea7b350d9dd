import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { SingleBar } from 'cli-progress'
import { ensureData, openPostgres, startPostgres } from '../app/log/postgres.ts'
import type { Config } from '../config.ts'
import { asStored } from '../events/codec.ts'
import type { EventStore } from '../events/store.ts'
import { type Cleanup, createCleanup } from '../lib/cleanup.ts'
import { inDataDir } from '../lib/datadir.ts'
import { lockDataDir } from '../lib/folderlock.ts'
import { OperatorError } from '../lib/operatorerror.ts'
import { createSignal } from '../lib/async/signal.ts'
import { createLogger } from '../logger.ts'
import { type Connection, type Database, openDatabase, openPool } from '../postgres/database.ts'
import { migrate } from '../postgres/migrate.ts'
import { refuseUnfinishedRestore } from '../postgres/state.ts'
import { ensureReachable } from '../postgres/reach.ts'
import type { CopyProgress } from '../store/copy.ts'
import { eventStoreDb } from '../store/eventstoredb.ts'
import type { MakeOpening } from '../store/open.ts'
import { postgresStore } from '../store/postgres.ts'
import { storeAnyway } from '../store/postgres/anyway.ts'
import { findHidden, findJumps } from '../store/postgres/jumps.ts'
import { BadCommand } from './cli.ts'

/** A stored event log, and the database that holds its images, keys and sequences. */
export interface End {
  readonly db: Database
  readonly openStore: (opening?: MakeOpening) => Promise<EventStore>
}

interface Opened {
  readonly name: string
  readonly db: Database
  readonly connection: Connection
}

const timeouts = { max: 4, timeout: 60_000, onError: () => {} }

/** Runs `work` and closes what it has opened. */
export const withCleanup = async <T>({ DATA_DIR }: Config, work: (cleanup: Cleanup) => Promise<T>): Promise<T> => {
  const log = createLogger({ LOG_LEVEL: 'warn' })
  const cleanup = createCleanup((error) => log.error({ err: error }, 'closing failed'))
  try {
    return await work(cleanup)
  } catch (error) {
    throw inDataDir(DATA_DIR, error)
  } finally {
    await cleanup.run()
  }
}

/** Opens databases that no process uses, each once: both ends of a copy may have their keys in the same one. */
export const databaseOpener = (config: Config, cleanup: Cleanup) => {
  const name = `linkledger-copy-${randomBytes(6).toString('hex')}`
  const opened = new Map<string, Opened>()
  /** `option` is the option that has the address, for messages. */
  return async (where: string, option: string): Promise<Opened> => {
    const known = opened.get(where)
    if (known) return known
    if (where === 'embedded' && option === '--from') ensureData(config.DATA_DIR)
    if (where !== 'embedded') await ensureReachable(where, option)
    const connection = where === 'embedded' ? await startEmbedded(config, cleanup) : { connectionString: where }
    const db = openDatabase(connection, { name, ...timeouts })
    cleanup.defer(() => db.destroy())
    await migrate(db)
    await refuseUsed(db, option)
    opened.set(where, { name, db, connection })
    return { name, db, connection }
  }
}

const startEmbedded = async (config: Config, cleanup: Cleanup): Promise<Connection> => {
  const folder = await lockDataDir(config.DATA_DIR)
  cleanup.defer(folder.release)
  return startPostgres(config, createLogger({ LOG_LEVEL: 'warn' }), cleanup)
}

/** ms for which PostgreSQL may still show the connections of a process that has ended */
const lingering = 2000

const processesOf = async (db: Database) => {
  const { rows } = await db.raw<{ rows: { n: number }[] }>(
    `select count(distinct split_part(application_name, '-', 2))::int as n from pg_stat_activity
     where datname = current_database() and application_name like 'linkledger-%' and application_name not like 'linkledger-copy-%'`,
  )
  return rows[0]?.n ?? 0
}

/** Events appended while the log is copied would be missing in the copy. */
const refuseUsed = async (db: Database, option: string) => {
  const end = performance.now() + lingering
  for (;;) {
    const n = await processesOf(db)
    if (n === 0) return
    if (performance.now() >= end)
      throw new OperatorError(`${option} is in use by ${n} linkledger process${n > 1 ? 'es' : ''}: stop it first`)
    await sleep(100)
  }
}

/** `place` is `embedded` or an address, `prefix` that of the streams in an EventStoreDB. */
export const endAt = (
  place: string,
  prefix: string | undefined,
  { name, db, connection }: Opened,
  cleanup: Cleanup,
): End => {
  const open = (opening?: MakeOpening) => {
    if (place.startsWith('esdb')) return eventStoreDb({ url: place, prefix, codec: asStored, opening })
    const pool = openPool(connection, { name, ...timeouts })
    cleanup.defer(() => pool.end())
    return postgresStore(pool, asStored, createSignal(), opening ? { opening } : {})
  }
  return {
    db,
    openStore: async (opening) => {
      const store = await open(opening)
      cleanup.defer(store.close)
      return store
    },
  }
}

/** The service's own log, for reading while it runs. */
export const openSource = async (config: Config, cleanup: Cleanup) => {
  const name = `linkledger-copy-${randomBytes(6).toString('hex')}`
  const log = createLogger({ LOG_LEVEL: 'warn' })
  const { connection } = await openPostgres(config, { name, use: 'command', log, cleanup })
  const db = openDatabase(connection, { name, ...timeouts })
  cleanup.defer(() => db.destroy())
  await migrate(db)
  await refuseUnfinishedRestore(db)
  const { openStore } = endAt(
    config.EVENTSTORE_URL ?? 'postgres',
    config.EVENTSTORE_PREFIX,
    { name, db, connection },
    cleanup,
  )
  const store = await openStore(() => Promise.reject(new OperatorError('the event log is empty')))
  return { db, store }
}

/**
 * Throws when a log in PostgreSQL lacks revisions of a stream: another program has removed or added events. Such a log
 * is stored elsewhere only on demand. Called after a file with the existing events was written.
 */
export const refuseGaps = async ({ EVENTSTORE_URL }: Pick<Config, 'EVENTSTORE_URL'>, db: Database, what: string) => {
  if (EVENTSTORE_URL !== undefined) return
  const gaps = (await findJumps(db)).length + (await findHidden(db)).length
  if (gaps === 0) return
  throw new OperatorError(
    `the log leaves out revisions at ${gaps} of its events, so this ${what} is stored in another place only with --with-gaps: \`linkledger verify\` names them`,
  )
}

/** The service's own log and database, to be filled while no process uses them. */
export const openTarget = async (config: Config, cleanup: Cleanup): Promise<End> => {
  const { DATABASE_URL, EVENTSTORE_URL, EVENTSTORE_PREFIX } = config
  const opened = await databaseOpener(config, cleanup)(
    DATABASE_URL ?? 'embedded',
    DATABASE_URL === undefined ? 'DATA_DIR' : 'DATABASE_URL',
  )
  return endAt(EVENTSTORE_URL ?? 'postgres', EVENTSTORE_PREFIX, opened, cleanup)
}

export const withGaps = [
  '--with-gaps',
  'store a log in PostgreSQL as it is that leaves out events, which `linkledger verify` names afterwards, too',
] as const

/** number of places that a message names */
const mostPlaces = 10

/** Returns a function that stores a log with gaps where `isWanted`, and one that reports the gaps afterwards. */
export const openGaps = (db: Database, isWanted: boolean, isEventStoreDb: boolean) => {
  if (isWanted && isEventStoreDb)
    throw new BadCommand('--with-gaps needs a log in PostgreSQL: EventStoreDB numbers the events of a stream itself')
  const places: string[] = []
  const store = storeAnyway(db, ({ stream, revision }) => places.push(`${stream} at revision ${revision}`))
  return {
    store: isWanted ? store : undefined,
    report: (): readonly string[] => {
      if (places.length === 0) return []
      const more = places.length > mostPlaces ? `, and ${places.length - mostPlaces} more` : ''
      return [
        `Stored as they are, though events before them are missing or moved: ${places.slice(0, mostPlaces).join(', ')}${more}. \`linkledger verify\` goes on to name them.`,
      ]
    },
  }
}

/** Shows the progress of the work on standard error, if that is a terminal. */
export const progressBar = () => {
  const bar = new SingleBar({ format: '{what} [{bar}] {percentage}% | {eta_formatted} left', noTTYOutput: false })
  bar.start(1, 0, { what: '' })
  return {
    show: (what: string, { position, head }: CopyProgress) => {
      bar.setTotal(Number(head))
      bar.update(Number(position), { what: what.padEnd(8) })
    },
    stop: () => bar.stop(),
  }
}
