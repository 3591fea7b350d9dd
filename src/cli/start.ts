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

const start = async (cli: Cli) => {
  const config = readConfig(cli.variables)
  const log = createLogger(config)
  const app = await startApp(config, log)

  let stopping: Promise<void> | undefined
  const stop = (signal: NodeJS.Signals) => {
    stopping ??= (async () => {
      log.info({ signal }, 'stopping')
      await app.close()
      cli.print(farewell(config))
    })()
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)

  // the log: while the read tables are filled for the first time, they do not say whether there are accounts
  // a log that takes long to search is not new
  const isNew = await withTimeout(2000, isUnused(app.ledger.store)).catch(() => false)
  cli.print(welcome({ config, address: app.address, baseUrl: app.baseUrl, isNew }))
}
