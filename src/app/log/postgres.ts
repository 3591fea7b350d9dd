import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Pool } from 'pg'
import type { Config } from '../../config.ts'
import type { Cleanup } from '../../lib/cleanup.ts'
import { OperatorError } from '../../lib/operatorerror.ts'
import { type Connection, type Database, openDatabase, openPool } from '../../postgres/database.ts'
import { runningEmbedded, startEmbedded } from '../../postgres/embedded.ts'
import { ensureReachable } from '../../postgres/reach.ts'

/**
 * Who uses the embedded database: the service starts it; a command uses the running one, or starts it if there is none.
 */
export type Use = 'service' | 'command'

/** Returns which engine has the log. */
export const engineOf = ({ EVENTSTORE_URL }: Pick<Config, 'EVENTSTORE_URL'>) =>
  EVENTSTORE_URL === undefined ? 'postgres' : 'eventstoredb'

export interface Postgres {
  readonly connection: Connection
  /**
   * Opens a knex pool of its own, of at most `max` connections, whose statements take at most `timeout` ms. `use` is
   * added to their name, and `begin` is one of `sessions`.
   */
  readonly database: (max: number, timeout: number, use?: string, begin?: string) => Database
  /** The same without knex. */
  readonly pool: (max: number, timeout: number) => Pool
}

interface PostgresOptions {
  /** the application name of its connections */
  readonly name: string
  readonly use: Use
  readonly log: Logger
  readonly cleanup: Cleanup
  /** how to reach a server that is open already */
  readonly connection?: Connection | undefined
}

/** Opens PostgreSQL: the server of DATABASE_URL, or the embedded one in DATA_DIR. */
export const openPostgres = async (
  config: Config,
  { name, use, log, cleanup, connection: known }: PostgresOptions,
): Promise<Postgres> => {
  const connection = known ?? (await connectionFor(config, use, log, cleanup))
  const onError = (error: Error) => log.warn({ err: error }, 'database connection lost')
  return {
    connection,
    database: (max, timeout, use, begin) => {
      const options = { name: use ? `${name}-${use}` : name, max, timeout, onError, begin }
      const database = openDatabase(connection, options)
      cleanup.defer(() => database.destroy())
      return database
    },
    pool: (max, timeout) => {
      const pool = openPool(connection, { name, max, timeout, onError })
      cleanup.defer(() => pool.end())
      return pool
    },
  }
}

const connectionFor = async (config: Config, use: Use, log: Logger, cleanup: Cleanup): Promise<Connection> => {
  const { DATABASE_URL, DATA_DIR } = config
  if (DATABASE_URL !== undefined) {
    await ensureReachable(DATABASE_URL, 'DATABASE_URL')
    return { connectionString: DATABASE_URL }
  }
  if (use === 'command') ensureData(DATA_DIR)
  const running = use === 'command' ? await runningEmbedded(DATA_DIR) : undefined
  return running ?? startPostgres(config, log, cleanup)
}

/**
 * Throws when there is no embedded database in DATA_DIR: a command in a wrong folder would create an empty one there
 * and work on it.
 */
export const ensureData = (dir: string) => {
  if (existsSync(join(dir, 'postgres'))) return
  throw new OperatorError(
    `there is no data in ${dir}: run the command in the folder in which the service was started, or set its DATA_DIR or DATABASE_URL`,
  )
}

/** Starts the embedded PostgreSQL in DATA_DIR. */
export const startPostgres = async (
  { DATA_DIR, EMBEDDED_BUFFERS_MB }: Config,
  log: Logger,
  cleanup: Cleanup,
): Promise<Connection> => {
  const { connection, stop } = await startEmbedded({
    dir: DATA_DIR,
    buffers: EMBEDDED_BUFFERS_MB,
    log: (line) => log.debug({ postgres: line }, 'PostgreSQL'),
    onCrash: (why) => log.error({ why }, 'PostgreSQL died; restarting it'),
  })
  cleanup.defer(stop)
  return connection
}
