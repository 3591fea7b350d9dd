import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { operatorContext } from '../../app/operator/caller.ts'
import { account, type AccountCommand } from '../../commands/accounts/account.ts'
import { allScopes } from '../../events/accounts/scope.ts'
import { register, Registration } from '../../commands/accounts/register.ts'
import { expiry, firstProblem } from '../../lib/fields.ts'
import { sentenceOf } from '../../lib/problems/problem.ts'
import { idSequence } from '../../postgres/ids.ts'
import { listAccounts } from '../../queries/accounts/account.ts'
import { newKey } from '../../security/apikeys.ts'
import { BadCommand, type Cli } from '../cli.ts'
import { certificate } from './certificate.ts'
import { erase, erasures } from './erase.ts'
import { findConfirmed } from './find.ts'
import { accountForms, accountName } from './name.ts'
import { addIdentityCommands } from './identity.ts'
import { addPasskeyCommands } from './passkey.ts'
import { addLimitCommand } from './limit.ts'
import { addOperatorCommand } from './operator.ts'
import { addOwnerCommand } from './owner.ts'
import { addPasswordCommand, readPassword } from './password.ts'
import { addTotpCommand } from './totp.ts'
import { type Confirmation, requireAnswerable, withConfirmation } from '../confirm.ts'
import { withTables } from '../ledger.ts'
import { oneLine } from '../oneline.ts'

interface AddOptions {
  readonly username?: string
  /** true: it is read */
  readonly password?: string | true
}
interface KeyOptions extends Confirmation {
  readonly expires?: string
  readonly keep?: boolean
}

/** `linkledger account …` */
export const addAccountCommands = (program: Command, cli: Cli) => {
  const accounts = program.command('account').description('manage accounts')
  const onAccount = (name: string, description: string) =>
    withConfirmation(accounts.command(name).description(description).argument('<account>', accountForms))

  accounts
    .command('add')
    .description('create an account and print its API key')
    .argument('<email>', 'e-mail address')
    .option('--username <name>', 'username; random when not given')
    .option(
      '--password [password]',
      'read the password from the terminal or the input; as an argument, others on this machine can see it. Generated and printed when not given',
    )
    .action((email: string, options: AddOptions) => add(cli, email, options))
  accounts
    .command('list')
    .description('list all accounts')
    .action(() => list(cli))
  onAccount('key', 'replace the API keys of an account and print the new one')
    .option('--expires <time>', 'when the key expires, in UTC: "2030-01-31 18:00:00" or 2030-01-31')
    .option('--keep', 'keep the other keys of the account')
    .action((who: string, options: KeyOptions) => replaceKey(cli, who, options))
  addPasswordCommand(accounts, cli)
  addTotpCommand(accounts, cli)
  addIdentityCommands(accounts, cli)
  addPasskeyCommands(accounts, cli)
  addLimitCommand(accounts, cli)
  addOperatorCommand(accounts, cli)
  addOwnerCommand(accounts, cli)
  onAccount('disable', 'refuse the API key of an account and hide its links').action(
    (who: string, options: Confirmation) => change(cli, who, options, disabling),
  )
  onAccount('enable', 'undo `disable`, or give the access back that a directory has ended').action(
    (who: string, options: Confirmation) => change(cli, who, options, enabling),
  )
  onAccount('erase', 'destroy the personal data of an account for good; its links then return 404').action(
    (who: string, options: Confirmation) => erase(cli, who, options),
  )
  accounts
    .command('certificate')
    .description('print the certificate of an erasure, also when the files of the database were cleared')
    .argument('<account>', 'id:7')
    .action((who: string) => certificate(cli, who))
  accounts
    .command('erasures')
    .description('print the erasure register: which accounts a restored backup has to erase again')
    .action(() => erasures(cli))
}

const add = async (cli: Cli, email: string, { username, password: given }: AddOptions) => {
  const password = given === true ? await readPassword(cli) : given
  const generated = randomBytes(12).toString('base64url')
  const registration = Registration.safeParse({
    email,
    password: password ?? generated,
    ...(username ? { username } : {}),
  })
  if (!registration.success) throw new BadCommand(sentenceOf(firstProblem(registration.error)))
  await withTables(cli, async ({ handler, keys, db, config }, waitUntilProjected) => {
    let position = 0n
    const added = await register(keys.service, registration.data, async (make) => {
      const own = operatorContext(config, 0)
      const created = await handler.create(account, idSequence(db, 'account'), make, (id) => ({ ...own, account: id }))
      position = created.position
      return created
    })
    await waitUntilProjected(position)
    cli.print(`account   ${added.id}`)
    cli.print(`username  ${added.username}`)
    if (password === undefined) cli.print(`password  ${generated}`)
    cli.print(`API key   ${added.api_key}`)
    cli.print('This is the only time that the key is shown.')
  })
}

/** A change of an account's status: the command, the question before it, and what is printed when it is done. */
interface StatusChange {
  readonly type: Extract<AccountCommand['type'], 'DisableAccount' | 'EnableAccount'>
  readonly question: string
  readonly done: string
}
const disabling: StatusChange = {
  type: 'DisableAccount',
  question: 'refuse its API key and hide its links',
  done: 'disabled',
}
const enabling: StatusChange = {
  type: 'EnableAccount',
  question: 'accept its API key and serve its links again',
  done: 'enabled',
}

const change = (cli: Cli, who: string, options: Confirmation, { type, question, done }: StatusChange) => {
  accountName(who)
  requireAnswerable(cli, options)
  return withTables(cli, async (ledger, waitUntilProjected) => {
    const { id } = await findConfirmed(cli, ledger, who, options, question)
    const { deactivated, status } = (await ledger.handler.load(account, id)).state
    // a directory that has ended the access may be gone
    const isGivenBack = type === 'EnableAccount' && status === 'active' && deactivated
    const command = { type: isGivenBack ? 'ReactivateAccount' : type, id } as const
    const { position } = await ledger.handler.handle(account, command, operatorContext(ledger.config, id))
    await waitUntilProjected(position)
    cli.print(`Account ${id} is ${done}.`)
  })
}

const replacing = 'replace its API keys; all of its old keys stop working'
const addedKey = { name: 'From the operator', scopes: allScopes }

const replaceKey = async (cli: Cli, who: string, { expires, keep, ...options }: KeyOptions) => {
  accountName(who)
  const until = expiry.safeParse(expires ?? null)
  if (!until.success) throw new BadCommand(sentenceOf(firstProblem(until.error), '--expires'))
  if (until.data !== null && until.data <= new Date().toISOString())
    throw new BadCommand('--expires must be a future date and time in UTC, for example 2030-01-31 18:00:00.')
  requireAnswerable(cli, options)
  await withTables(cli, async (ledger, waitUntilProjected) => {
    const { id } = await findConfirmed(cli, ledger, who, options, keep ? 'add an API key' : replacing)
    const { id: key, key: apiKey, hash } = newKey(ledger.keys.service)
    const command = keep
      ? ({
          type: 'AddKey',
          id,
          now: new Date().toISOString(),
          apiKey: { key, hash },
          ...addedKey,
          expires: until.data,
        } as const)
      : ({ type: 'IssueKey', id, apiKey: { key, hash, expires: until.data } } as const)
    const { position } = await ledger.handler.handle(account, command, operatorContext(ledger.config, id))
    await waitUntilProjected(position)
    cli.print(`API key   ${apiKey}`)
    cli.print(
      `${keep ? 'The other keys still work' : 'The old keys no longer work'}. This is the only time that the new one is shown.`,
    )
  })
}

const list = (cli: Cli) =>
  withTables(cli, async ({ reader }) => {
    const line = (id: string, status: string, registered: string, username: string, email: string) =>
      `${id.padStart(8)}  ${status.padEnd(8)}  ${registered.padEnd(10)}  ${username.padEnd(20)}  ${email}`
    cli.print(line('id', 'status', 'registered', 'username', 'e-mail'))
    for (const { id, status, registered, username, email } of await listAccounts(reader))
      cli.print(line(String(id), status, registered.toISOString().slice(0, 10), username ?? '', oneLine(email ?? '')))
  })
