import type { Command } from 'commander'
import { startApp } from '../app/service.ts'
import { readConfig } from '../config.ts'
import { createLogger } from '../logger.ts'
import type { Cli } from './cli.ts'

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
  cli.print(
    config.ROLES.has('http')
      ? welcome(app.baseUrl, app.address)
      : `Linkledger listens on ${app.address} for probes and runs the roles ${[...config.ROLES].join(', ')}.`,
  )

  let stopping: Promise<void> | undefined
  const stop = (signal: NodeJS.Signals) => {
    stopping ??= (async () => {
      log.info({ signal }, 'stopping')
      await app.close()
    })()
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

const welcome = (baseUrl: string, address: string) => `
Linkledger listens on ${address} and its short links start with ${baseUrl}

Try it in another terminal:

  # create an account; the response contains your API key, which is shown only once
  curl -X POST ${address}/register -H 'content-type: application/json' -d '{"email":"ann@example.com","password":"correct horse 1"}'
  KEY=<the api_key of the response>

  # create a short link
  curl -X POST ${address}/api/url/add -H "Authorization: Bearer $KEY" -H 'content-type: application/json' -d '{"url":"https://example.com/a?b=c#d","custom":"hello"}'

  # follow it, then see the click counted
  curl -i ${address}/hello
  curl ${address}/api/url/1 -H "Authorization: Bearer $KEY"

Stop the service with Ctrl-C. All data is kept.
`
