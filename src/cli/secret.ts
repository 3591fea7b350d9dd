import type { Command } from 'commander'
import type { Ledger } from '../app/log/ledger.ts'
import { recordOperation } from '../app/operator/caller.ts'
import { newSecret, replaceSecret, storeNextSecret } from '../app/log/secret.ts'
import { endHandover, rewrapKeys } from '../security/wrapping.ts'
import { BadCommand, type Cli } from './cli.ts'
import { withLedger } from './ledger.ts'

/** `linkledger secret …` */
export const addSecretCommands = (program: Command, cli: Cli) => {
  const secrets = program.command('secret').description('work on SECRET, which encrypts the keys in the database')
  secrets
    .command('rotate')
    .description('encrypt the keys under a new SECRET, while the service keeps running')
    .action(() => rotate(cli))
  secrets
    .command('finish')
    .description('end a rotation, once every process runs with the new SECRET: the old one opens nothing from then on')
    .action(() => finish(cli))
}

const rotate = (cli: Cli) =>
  withLedger(cli, async (ledger) => {
    const { config, db, secret, store } = ledger
    const given = config.SECRET !== undefined
    if (given && config.NEW_SECRET === undefined)
      throw new BadCommand(
        'SECRET is set, so the new one must be set as NEW_SECRET for this command. Keep it before you go on, for example: NEW_SECRET="$(openssl rand -base64 32)"',
      )
    const to = config.NEW_SECRET ?? newSecret()
    if (to === secret) throw new BadCommand('NEW_SECRET must be another one than the secret of now')
    const beforeCommit = given ? () => {} : () => storeNextSecret(config.DATA_DIR, to)
    const keys = await rewrapKeys(db, { from: secret, to, beforeCommit })
    if (!given) replaceSecret(config.DATA_DIR, to)
    await recordOperation(store, { type: 'SecretRotated', data: { keys } }, config)
    cli.print(`${keys} keys are encrypted under the new secret.`)
    cli.print(
      given
        ? 'Set SECRET to the value of NEW_SECRET now, for every process, and keep it with your backups.'
        : `It is in ${config.DATA_DIR}/secret, where the next start finds it. Keep a copy with your backups.`,
    )
    cli.print('Backups from before need the old secret.')
    const others = await otherProcesses(ledger)
    if (others === 0) await endHandover(db)
    else
      cli.print(
        `${others} running process${others > 1 ? 'es go' : ' goes'} on with the keys. Restart every process with the new secret, then run \`linkledger secret finish\`: until then the old secret still opens the database.`,
      )
  })

const finish = (cli: Cli) =>
  withLedger(cli, async ({ db }) => {
    cli.print(
      (await endHandover(db))
        ? 'The rotation is finished. The old secret opens nothing.'
        : 'There is no rotation to finish.',
    )
  })

const otherProcesses = async ({ db, instance }: Ledger) => {
  const { rows } = await db.raw<{ rows: { n: number }[] }>(
    `select count(distinct substring(application_name from '^linkledger-[0-9a-f]+'))::int as n from pg_stat_activity
     where datname = current_database() and application_name like 'linkledger-%' and application_name not like ?`,
    [`${instance}%`],
  )
  return rows[0]?.n ?? 0
}
