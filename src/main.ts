#!/usr/bin/env node
import { readConfig } from './config.ts'
import { parseArgs } from 'node:util'
import { accountCommand, BadCommand, rebuildCommand } from './cli/account.ts'
import { startApp } from './app/service.ts'
import { createLogger } from './logger.ts'
import { copyCommand, importCommand } from './cli/copy.ts'

const usage = `linkledger: short links with a history

  linkledger [start]                        run the service
  linkledger account add EMAIL [--username NAME] [--password WORD]
                                            make an account; prints its API key (and a password made for it)
  linkledger account list                   all accounts
  linkledger account key WHO [--expires "2030-01-31 18:00:00"]
                                            a new API key in place of the old one
  linkledger account disable|enable WHO     refuse its key and hide its links, or stop doing so
  linkledger account erase WHO --yes        destroy its personal data for good
  linkledger rebuild                        build the read tables anew from the log, while the service goes on
  linkledger log copy --from WHERE --to WHERE
                                            carry the log, its keys and sequences to another engine, and verify it
  linkledger spool import DIR               record the clicks of a machine that is gone, from its DATA_DIR

WHO is an id, an e-mail or a username; WHERE is embedded, postgres://… or esdb://…. Settings come from the environment: see the README.`

const start = async () => {
  const config = readConfig()
  const log = createLogger(config)
  const app = await startApp(config, log)
  const works = [...config.ROLES].join(', ')
  console.log(
    config.ROLES.has('http')
      ? welcome(app.baseUrl, app.address)
      : `Linkledger listens on ${app.address} for probes, and works as ${works}`,
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
Linkledger listens on ${address} and makes short links under ${baseUrl}

Try it in another terminal:

  # an account; it answers with your API key, which is shown this once
  curl -X POST ${address}/register -H 'content-type: application/json' -d '{"email":"ann@example.com","password":"correct horse 1"}'
  KEY=…the api_key from the answer

  # a short link
  curl -X POST ${address}/api/url/add -H "Authorization: Bearer $KEY" -H 'content-type: application/json' -d '{"url":"https://example.com/a?b=c#d","custom":"hello"}'

  # follow it, then see the click counted
  curl -i ${address}/hello
  curl ${address}/api/url/1 -H "Authorization: Bearer $KEY"

Stop with Ctrl-C. Everything is kept.
`

const run = async () => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      username: { type: 'string' },
      password: { type: 'string' },
      expires: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
      yes: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  const [command = 'start', ...rest] = positionals
  if (values.help || command === 'help') return console.log(usage)
  switch (command) {
    case 'start':
      return start()
    case 'account':
      return accountCommand(rest, values, (line) => console.log(line))
    case 'rebuild':
      return rebuildCommand((line) => console.log(line))
    case 'log':
      if (rest[0] !== 'copy') throw new BadCommand('say what to do: linkledger log copy')
      return copyCommand(values, (line) => console.log(line))
    case 'spool':
      if (rest[0] !== 'import') throw new BadCommand('say what to do: linkledger spool import DIR')
      return importCommand(rest[1], (line) => console.log(line))
    default:
      throw new BadCommand(`there is no command ${command}\n\n${usage}`)
  }
}

run().catch((error: unknown) => {
  // what an operator can mend is told in its own words, anything else with where it happened
  console.error(`linkledger: ${error instanceof Error ? error.message : String(error)}`)
  if (error instanceof Error && !mendable(error)) console.error(error.stack)
  process.exitCode = 1
})

const mendable = (error: Error & { readonly code?: string }) =>
  error.code?.startsWith('ERR_PARSE_ARGS') ||
  ![TypeError, RangeError, ReferenceError].some((kind) => error.constructor === kind)
