import { randomBytes } from 'node:crypto'
import { SingleBar } from 'cli-progress'
import type { Command } from 'commander'
import { recordOperation } from '../app/operator.ts'
import { ensureData, startPostgres } from '../app/postgres.ts'
import { withSecret } from '../app/secret.ts'
import { checkMark } from '../app/servicekey.ts'
import { type Config, eventStoreProblem, readConfig } from '../config.ts'
import { asStored } from '../events/codec.ts'
import type { EventStore } from '../events/store.ts'
import { type Cleanup, createCleanup } from '../lib/cleanup.ts'
import { lockDataDir } from '../lib/folderlock.ts'
import { OperatorError } from '../lib/operatorerror.ts'
import { createSignal } from '../lib/signal.ts'
import { createLogger } from '../logger.ts'
import { type Connection, type Database, migrate, openDatabase, openPool } from '../postgres/database.ts'
import { copyImages } from '../postgres/images.ts'
import { ensureReachable } from '../postgres/reach.ts'
import { copyState } from '../postgres/state.ts'
import { openKeys } from '../security/keyring.ts'
import { copyLog, type CopyProgress } from '../store/copy.ts'
import { eventStoreDb } from '../store/eventstoredb.ts'
import type { Opening } from '../store/open.ts'
import { postgresStore } from '../store/postgres.ts'
import { BadCommand, type Cli } from './cli.ts'

const places = 'embedded, postgres://user:password@host:5432/database, or esdb://host:2113?tls=false'

interface CopyOptions {
  readonly from: string
  readonly to: string
}

/** `linkledger log …` */
export const addLogCommands = (program: Command, cli: Cli) =>
  program
    .command('log')
    .description('work on the event log')
    .command('copy')
    .description('copy the event log, with its images, keys and sequences, to another engine, and verify the copy')
    .requiredOption('--from <place>', places)
    .requiredOption('--to <place>', 'the same; it must be empty, or hold a part of this copy')
    .action((options: CopyOptions) => copy(cli, options))

/** One end of a copy: an event log, and the database that holds its images, keys and sequences. */
interface End {
  readonly db: Database
  readonly openStore: (opening?: Opening) => Promise<EventStore>
}

const copy = async (cli: Cli, { from, to }: CopyOptions) => {
  const config = readConfig(cli.variables)
  const databases = { from: databaseOf('--from', from, config), to: databaseOf('--to', to, config) }
  const log = createLogger({ LOG_LEVEL: 'warn' })
  const cleanup = createCleanup((error) => log.error({ err: error }, 'closing failed'))
  try {
    const open = databaseOpener(config, cleanup)
    const source = endAt(from, await open(databases.from, '--from'), cleanup)
    const target = endAt(to, await open(databases.to, '--to'), cleanup)
    await copyState(source.db, target.db)
    const { service } = await withSecret(config, 'command', (secret) => openKeys(target.db, secret)) // throws when SECRET is not that of the source
    // before the events that name them
    await copyImages(source.db, target.db)
    const original = await source.openStore()
    await checkMark(original, service)
    const copied = await target.openStore(await openingOf(original))
    const engine = to.startsWith('esdb') ? 'eventstoredb' : 'postgres'
    if (copied.logId === original.logId)
      await recordOperation(original, { type: 'LogCopyStarted', data: { to: engine } }, config)
    const { show, stop } = progressBar()
    const count = await copyLog(original, copied, show).finally(stop)
    cli.print(`${count} events, the keys, the sequences and the images are copied and verified.`)
  } finally {
    await cleanup.run()
  }
}

/** Returns which database holds the keys of an end, `embedded` or an address. An EventStoreDB has none, so its keys are in the service's. */
const databaseOf = (option: string, place: string, { DATABASE_URL }: Config): string => {
  if (place === 'embedded' || /^postgres(ql)?:\/\//.test(place)) return place
  const problem = eventStoreProblem(place)
  if (problem !== undefined) throw new BadCommand(`${option} ${problem}; or ${places}`)
  return DATABASE_URL ?? 'embedded'
}

interface Opened {
  readonly name: string
  readonly db: Database
  readonly connection: Connection
}

/** Opens each database once: both ends may have their keys in the same one. */
const databaseOpener = (config: Config, cleanup: Cleanup) => {
  const name = `linkledger-copy-${randomBytes(6).toString('hex')}`
  const opened = new Map<string, Opened>()
  return async (where: string, option: string): Promise<Opened> => {
    const known = opened.get(where)
    if (known) return known
    if (where === 'embedded' && option === '--from') ensureData(config.DATA_DIR)
    if (where !== 'embedded') await ensureReachable(where, option)
    const connection = where === 'embedded' ? await startEmbedded(config, cleanup) : { connectionString: where }
    const db = openDatabase(connection, { name, max: 4, timeout: 60_000, onError: () => {} })
    cleanup.defer(() => db.destroy())
    await migrate(db)
    await refuseUsed(db, option)
    opened.set(where, { name, db, connection })
    return { name, db, connection }
  }
}

const startEmbedded = async ({ DATA_DIR }: Config, cleanup: Cleanup): Promise<Connection> => {
  const folder = await lockDataDir(DATA_DIR)
  cleanup.defer(folder.release)
  return startPostgres(DATA_DIR, createLogger({ LOG_LEVEL: 'warn' }), cleanup)
}

/** Events appended while the log is copied would be missing in the copy. */
const refuseUsed = async (db: Database, option: string) => {
  const { rows } = await db.raw<{ rows: { n: number }[] }>(
    `select count(distinct split_part(application_name, '-', 2))::int as n from pg_stat_activity
     where datname = current_database() and application_name like 'linkledger-%' and application_name not like 'linkledger-copy-%'`,
  )
  const n = rows[0]?.n ?? 0
  if (n > 0)
    throw new OperatorError(`${option} is in use by ${n} linkledger process${n > 1 ? 'es' : ''}: stop it first`)
}

const endAt = (place: string, { name, db, connection }: Opened, cleanup: Cleanup): End => {
  const open = (opening?: Opening) => {
    if (place.startsWith('esdb')) return eventStoreDb({ url: place, codec: asStored, opening })
    const pool = openPool(connection, { name, max: 4, timeout: 60_000, onError: () => {} })
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

const progressBar = () => {
  const bar = new SingleBar({ format: '{what} [{bar}] {percentage}% | {eta_formatted} left', noTTYOutput: false })
  bar.start(1, 0, { what: 'copied' })
  return {
    show: (what: 'copied' | 'verified', { position, head }: CopyProgress) => {
      bar.setTotal(Number(head))
      bar.update(Number(position), { what: what.padEnd(8) })
    },
    stop: () => bar.stop(),
  }
}

const openingOf = async (store: EventStore): Promise<Opening> => {
  const first = await store.last('log')
  if (first?.type !== 'LogOpened') throw new Error('the log has no LogOpened')
  return first
}
