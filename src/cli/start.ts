import type { Command } from 'commander'
import type { Logger } from 'pino'
import { type App, startApp } from '../app/service.ts'
import type { WaitingStart } from '../app/waiting.ts'
import { type Config, readConfig } from '../config.ts'
import { isUnused } from '../events/store.ts'
import { withTimeout } from '../lib/async/timeout.ts'
import { createLogger } from '../logger.ts'
import type { Cli } from './cli.ts'
import { farewell, waitingLine, welcome } from './welcome.ts'

/** `linkledger start` */
export const addStartCommand = (program: Command, cli: Cli) =>
  program
    .command('start')
    .description('run the service (the default command)')
    .action(() => start(cli))

/**
 * ms that a stop takes at most besides the drain; with the default of that, less than the 45 s that operators are told
 * to allow
 */
const timeoutMs = 22_000

/** Calls `onLate` when closing takes longer than `ms`: a server that is silent must not keep the process. */
export const closeWithin = async (close: () => Promise<void>, ms: number, onLate: () => void) => {
  const late = setTimeout(onLate, ms)
  await close()
  clearTimeout(late)
}

/** Starts the service. Returns undefined when it was stopped while it waited for its event store. */
const startOrWait = async (cli: Cli, config: Config, log: Logger): Promise<App | undefined> => {
  const ended = new AbortController()
  const stop = (signal: NodeJS.Signals) => {
    log.info({ signal }, 'stopping')
    ended.abort()
  }
  const onWaiting: WaitingStart['onWaiting'] = (listening, problem) => {
    process.once('SIGTERM', stop)
    process.once('SIGINT', stop)
    cli.print(waitingLine(listening, problem))
  }
  try {
    const app = await startApp(config, log, {}, { onWaiting, signal: ended.signal })
    if (!ended.signal.aborted) return app
    await app.close()
  } catch (error) {
    if (!ended.signal.aborted) throw error
  } finally {
    process.off('SIGTERM', stop)
    process.off('SIGINT', stop)
  }
  return undefined
}

const start = async (cli: Cli) => {
  const config = readConfig(cli.variables)
  const log = createLogger(config)
  const app = await startOrWait(cli, config, log)
  if (!app) return cli.print(farewell(config))

  let stopping: Promise<void> | undefined
  const stop = (signal: NodeJS.Signals) => {
    stopping ??= (async () => {
      log.info({ signal }, 'stopping')
      await closeWithin(app.close, config.DRAIN_TIMEOUT_SECONDS * 1000 + timeoutMs, () => {
        log.error(
          'a server does not answer, so the process ends without closing all connections; the next start recovers',
        )
        process.exit(1)
      })
      cli.print(farewell(config))
    })()
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)

  // the log: while the read tables are filled for the first time, they do not say whether there are accounts
  // a log that takes long to search is not new
  const isNew = await withTimeout(2000, isUnused(app.ledger.store)).catch(() => false)
  cli.print(welcome({ config, ...app, isNew }))
}
