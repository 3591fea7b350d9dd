import type { Command } from 'commander'
import { startApp } from '../app/service.ts'
import { readConfig } from '../config.ts'
import { isUnused } from '../events/store.ts'
import { withTimeout } from '../lib/timeout.ts'
import { createLogger } from '../logger.ts'
import type { Cli } from './cli.ts'
import { farewell, welcome } from './welcome.ts'

/** `linkledger start` */
export const addStartCommand = (program: Command, cli: Cli) =>
  program
    .command('start')
    .description('run the service (the default command)')
    .action(() => start(cli))

/** ms that a stop takes at most besides the drain; with the default of that, less than the 45 s that operators are told to allow */
const patience = 22_000

/** Calls `onLate` when closing takes longer than `ms`: a server that is silent must not keep the process. */
export const closeWithin = async (close: () => Promise<void>, ms: number, onLate: () => void) => {
  const late = setTimeout(onLate, ms)
  await close()
  clearTimeout(late)
}

const start = async (cli: Cli) => {
  const config = readConfig(cli.variables)
  const log = createLogger(config)
  const app = await startApp(config, log)

  let stopping: Promise<void> | undefined
  const stop = (signal: NodeJS.Signals) => {
    stopping ??= (async () => {
      log.info({ signal }, 'stopping')
      await closeWithin(app.close, config.DRAIN_TIMEOUT_SECONDS * 1000 + patience, () => {
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
