import { randomBytes } from 'node:crypto'
import { SingleBar } from 'cli-progress'
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { BadCommand, withLedger } from './account.ts'
import { importClicks } from '../clicks/import.ts'
import { logTo } from '../clicks/log.ts'
import { type Config, eventStoreProblem, readConfig } from '../config.ts'
import { lockDataDir } from '../lib/folderlock.ts'
import { asStored } from '../events/codec.ts'
import type { EventStore } from '../events/store.ts'
import { createSignal } from '../lib/signal.ts'
import { copyLog, NotACopy, type CopyProgress } from '../store/copy.ts'
import { eventStoreDb } from '../store/eventstoredb.ts'
import type { Opening } from '../store/open.ts'
import { postgresStore } from '../store/postgres.ts'
import { openDomains } from '../cache/domains.ts'
import { normalHost } from '../lib/url.ts'
import { createLogger } from '../logger.ts'
import { type Connection, type Database, migrate, openDatabase, openPool } from '../postgres/database.ts'
import { startEmbedded } from '../postgres/embedded.ts'
import { openKeys } from '../security/keyring.ts'
import { domainsChanged } from '../queries/domain.ts'
import { copyState, OtherState } from '../postgres/state.ts'
import { openCountries } from '../visitor/country.ts'

type Print = (line: string) => void

/** One end of a copy: a log, and the database its keys and sequences are in. */
interface End {
  readonly db: Database
  readonly store: (opening?: Opening) => Promise<EventStore>
}
/** What has been opened, in that order: it is closed from the end. */
type Steps = (() => Promise<unknown>)[]

const places = `embedded, postgres://user:password@host:5432/database, or esdb://host:2113?tls=false`

/** Which database an end has its keys in, `embedded` or an address; an EventStoreDB has none, and leaves them in the service's. */
const databaseOf = (option: string, text: string | undefined, config: Config): string => {
  if (text === undefined) throw new BadCommand(`say ${option}: ${places}`)
  if (text === 'embedded' || /^postgres(ql)?:\/\//.test(text)) return text
  const problem = eventStoreProblem(text)
  if (problem !== undefined) throw new BadCommand(`${option} ${problem}; or be ${places}`)
  return config.DATABASE_URL ?? 'embedded'
}

const openDatabases = (config: Config, name: string, steps: Steps) => {
  const opened = new Map<string, { readonly db: Database; readonly connection: Connection }>()
  return async (where: string, option: string) => {
    const known = opened.get(where)
    if (known) return known
    const connection = where === 'embedded' ? await embedded(config, steps) : { connectionString: where }
    const db = openDatabase(connection, { name, max: 4, timeout: 60_000, onError: () => {} })
    steps.push(() => db.destroy())
    await migrate(db)
    await refuseUsed(db, option)
    opened.set(where, { db, connection })
    return { db, connection }
  }
}

const embedded = async (config: Config, steps: Steps): Promise<Connection> => {
  const folder = await lockDataDir(config.DATA_DIR)
  steps.push(folder.release)
  const log = createLogger({ LOG_LEVEL: 'warn' })
  const { connection, stop } = await startEmbedded({
    dir: config.DATA_DIR,
    log: (line) => log.debug({ postgres: line }, 'PostgreSQL'),
    onCrash: (why) => log.error({ why }, 'PostgreSQL died and is started again'),
  })
  steps.push(stop)
  return connection
}

/** What is appended while a log is copied would be missing in the copy. */
const refuseUsed = async (db: Database, option: string) => {
  const { rows } = await db.raw<{ rows: { n: number }[] }>(
    `select count(distinct application_name)::int as n from pg_stat_activity
     where datname = current_database() and application_name like 'linkledger-%' and application_name not like 'linkledger-copy-%'`,
  )
  if (rows[0]?.n) throw new BadCommand(`${option} is in use by ${rows[0].n} linkledger: stop what runs on it first`)
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

export interface CopyOptions {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** `linkledger log copy`: a whole log, with the keys and sequences that belong to it, from one engine to another. */
export const copyCommand = async ({ from, to }: CopyOptions, print: Print): Promise<void> => {
  const config = readConfig()
  const name = `linkledger-copy-${randomBytes(6).toString('hex')}`
  const steps: Steps = []
  const database = openDatabases(config, name, steps)

  const openEnd = async (option: string, text: string | undefined): Promise<End> => {
    const { db, connection } = await database(databaseOf(option, text, config), option)
    const open = (opening?: Opening) => {
      if (text?.startsWith('esdb')) return eventStoreDb({ url: text, codec: asStored, opening })
      const pool = openPool(connection, { name, max: 4, timeout: 60_000, onError: () => {} })
      steps.push(() => pool.end())
      return postgresStore(pool, asStored, createSignal(), opening ? { opening } : {})
    }
    const store = async (opening?: Opening) => {
      const opened = await open(opening)
      steps.push(opened.close)
      return opened
    }
    return { db, store }
  }

  try {
    databaseOf('--to', to, config) // both are looked at before anything is opened
    const [source, target] = [await openEnd('--from', from), await openEnd('--to', to)]
    await copyState(source.db, target.db)
    await openKeys(target.db, config.SECRET) // throws when SECRET is not the source's
    const log = await source.store()
    const copy = await target.store(await openingOf(log))
    const { show, stop } = progressBar()
    const count = await copyLog(log, copy, show).finally(stop)
    print(`${count} events are copied and verified, and the keys and sequences with them.`)
  } catch (error) {
    throw error instanceof NotACopy || error instanceof OtherState ? new BadCommand(error.message) : error
  } finally {
    for (const step of steps.toReversed()) await step()
  }
}

const openingOf = async (store: EventStore): Promise<Opening> => {
  const first = await store.last('log')
  if (first?.type !== 'LogOpened') throw new Error('the log has no LogOpened')
  return first
}

/** Where spools lie below a folder: a data folder, or its folder of spools. */
const spoolsIn = (dir: string) => (existsSync(join(dir, 'spool')) ? join(dir, 'spool') : dir)

/** `linkledger spool import`: the clicks of a machine that is gone, as often as one likes. */
export const importCommand = async (dir: string | undefined, print: Print): Promise<void> => {
  if (dir === undefined)
    throw new BadCommand('say which folder: the DATA_DIR of the machine that is gone, or its folder spool')
  if (!existsSync(dir)) throw new BadCommand(`there is no folder ${dir}`)
  const spools = spoolsIn(dir)
  const folder = await lockDataDir(dirname(resolve(spools)))
  try {
    await withLedger(async (ledger) => {
      const domains = openDomains()
      domains.set(await domainsChanged(ledger.reader, 0n))
      const { BASE_URL } = ledger.config
      const own = BASE_URL === undefined ? undefined : normalHost(new URL(BASE_URL).hostname)
      const isOurs = (host: string) => normalHost(host) === own || domains.byHost(normalHost(host)) !== undefined
      const { store, keys, log } = ledger
      const options = { store, keyring: keys, log: logTo(log), countryOf: openCountries().of, isOurs }
      const count = await importClicks(options, spools)
      print(`${count} clicks of ${spools} are recorded that were not.`)
    })
  } finally {
    await folder.release()
  }
}
