import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import { type App, startApp } from '../../src/app/service.ts'
import type { WaitingStart } from '../../src/app/waiting.ts'
import { readConfig } from '../../src/config.ts'
import type { Overrides } from '../../src/app/overrides.ts'
import { readToHead } from '../../src/events/store.ts'
import { openPost } from '../../src/lib/post.ts'
import type { Connection } from '../../src/postgres/database.ts'
import { hashPassword } from '../../src/security/passwords.ts'
import { client, until } from './client.ts'
import { freshDatabase } from './database.ts'
import { sharedImages } from './images.ts'
import { watchService } from './turns.ts'

const noAnswer = () => Promise.resolve(undefined)
/** A receiver of webhooks that takes everything. */
const taken = () => Promise.resolve({ status: 204, excerpt: '', retryAfter: undefined })
/** A password costs 40 ms of a processor because of this hash, and tests set hundreds. */
const hashFast = (password: string) => hashPassword(password, undefined, { N: 16, r: 8, p: 1 })

/** On a busy machine an event store may not answer within the two seconds that a service waits for it. */
const waiting: WaitingStart = { onWaiting: () => {}, signal: new AbortController().signal, timeoutMs: 30_000 }

let started: Promise<Connection> | undefined
/**
 * Returns a copy of a database on which a service was started once: its schemas and its empty read tables take half of
 * a start. All copies are of the same log and have the same keys.
 */
export const startedDatabase = async (): Promise<Connection> => {
  started ??= (async (): Promise<Connection> => {
    const { connection, close } = await startTestApp({}, await freshDatabase())
    await close()
    return connection
  })()
  return freshDatabase(await started)
}

/**
 * Starts a service in this process, on a database of its own and a free port, with its read tables filled. `settings`
 * are environment variables.
 */
export const startTestApp = async (
  settings: Readonly<Record<string, string>> = {},
  on?: Connection,
  overrides: Overrides = {},
  logger: Logger = pino({ level: 'silent' }),
) => {
  const connection = on ?? (await ('EVENTSTORE_URL' in settings ? freshDatabase() : startedDatabase()))
  const dir = await mkdtemp(join(tmpdir(), 'linkledger-app-'))
  const config = readConfig({
    PORT: '0',
    DATA_DIR: dir,
    DATABASE_URL: urlOf(connection),
    SECRET: 'a secret for tests only',
    RATE_LIMIT_PER_MINUTE: '0',
    REGISTRATIONS_PER_ADDRESS: '0',
    LOG_LEVEL: 'silent',
    ...settings,
  })
  // the destinations of tests are not asked anything, unless a test answers for them
  const own: Overrides = {
    inOneThread: true,
    guardedProbe: noAnswer,
    hashNewPassword: hashFast,
    images: sharedImages(),
    webhooks: { post: { ...openPost(), send: taken } },
    ...overrides,
  }
  const app: App = await startApp(config, logger, own, waiting)
  // with read tables to serve, it starts without its event store
  await until(async () => app.ledger.logCheck.problem() === undefined, Boolean)
  if (config.ROLES.has('projector')) await until(async () => app.ledger.tables.complete(), Boolean)
  const unwatch = watchService()
  let newest = 0n
  return {
    ...client(app.address),
    operator: client(app.operatorAddress, () => {}),
    app,
    dir,
    connection,
    config,
    domainEventsAfter: async (position: bigint) => (await domainPositions(app, position)).length,
    /** Returns the position of the newest event that is neither a click nor about a spool. */
    domainHead: async () => (newest = (await domainPositions(app, newest)).at(-1) ?? newest),
    close: async () => {
      unwatch()
      await app.close()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/**
 * Returns the positions of the events after a position, without clicks and their spools: those of an earlier test may
 * be recorded meanwhile.
 */
const domainPositions = async ({ ledger: { store } }: App, after: bigint) => {
  const positions: bigint[] = []
  for await (const events of readToHead(store, { after, filter: 'domain', limit: 1000 }))
    for (const { stream, position } of events) if (!/^(?:clicks|spool)-/.test(stream)) positions.push(position)
  return positions
}
export type TestApp = Awaited<ReturnType<typeof startTestApp>>

/**
 * Returns the connection as a DATABASE_URL; a socket folder is the `host` in its query. On a busy machine, PostgreSQL
 * may need more than the usual two seconds to open a connection.
 */
export const urlOf = (
  { host = '', port = 5432, user = '', password = '', database = '' }: Connection,
  seconds = 20,
) => {
  const query = new URLSearchParams({ host, port: String(port), connect_timeout: String(seconds) })
  return `postgres://${encodeURIComponent(user)}:${encodeURIComponent(String(password))}@/${database}?${query.toString()}`
}
