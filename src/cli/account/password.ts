import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { operatorContext } from '../../app/operator/caller.ts'
import { account } from '../../commands/accounts/account.ts'
import { stop } from '../../lib/operatorerror.ts'
import { password as validPassword } from '../../commands/accounts/register.ts'
import { firstProblem } from '../../lib/fields.ts'
import { sentenceOf } from '../../lib/problems/problem.ts'
import { oneTimeAddress } from '../../http/accounts/onetimeaddress.ts'
import { findAccountBy } from '../../queries/accounts/account.ts'
import { openOneTimeLinks } from '../../security/onetimelinks.ts'
import { hashPassword, owner } from '../../security/passwords.ts'
import { accountForms, accountName } from './name.ts'
import { BadCommand, type Cli } from '../cli.ts'
import { readHiddenLine } from '../hiddenline.ts'
import { withTables } from '../ledger.ts'
import { oneLine } from '../oneline.ts'

interface PasswordOptions {
  readonly generate?: boolean
  readonly once?: boolean
}

/** s for which the link of `--once` works */
const onceSeconds = 600

/** Adds `linkledger account password` to the commands on accounts. */
export const addPasswordCommand = (accounts: Command, cli: Cli) =>
  accounts
    .command('password')
    .description('set a new password for an account, read from the terminal or the input')
    .argument('<account>', accountForms)
    .option('--generate', 'generate the password and print it')
    .option('--once', 'change nothing, and print a link that signs in once, within ten minutes, without a password')
    .action((who: string, options: PasswordOptions) => setPassword(cli, who, options))

/** Returns a new password from the terminal or the input. */
export const readPassword = async (cli: Cli) => {
  const given = validPassword.safeParse(await readHiddenLine(cli, 'New password (it is not shown):'))
  if (given.success) return given.data
  throw new BadCommand(`${sentenceOf(firstProblem(given.error), 'the password')} Nothing was changed.`)
}

/** Prints a link that opens an account that cannot sign in: its issuer is away, or it has no identity yet. */
const printLink = (cli: Cli, who: string) => {
  const name = accountName(who)
  return withTables(cli, async ({ config, db, keys, reader }) => {
    const found = await findAccountBy(reader, name)
    if (!found || found.status === 'erased') return stop(`there is no account ${who}`)
    if (found.team) return stop(`${who} is a team account, which has no sign-in`)
    const content = { account: found.id, content: {} }
    const token = await openOneTimeLinks(db, keys.service).issue('enter', content, onceSeconds)
    cli.print(oneTimeAddress(config.BASE_URL ?? `http://localhost:${config.PORT}`, 'enter', token))
    cli.print(
      'Open this link within ten minutes. It works once, and signs the browser in to the account for twelve hours.',
    )
  })
}

const setPassword = (cli: Cli, who: string, { generate, once }: PasswordOptions) => {
  if (once) return printLink(cli, who)
  const name = accountName(who)
  return withTables(cli, async ({ config, db, handler, keys, reader }, waitUntilProjected) => {
    const found = await findAccountBy(reader, name)
    if (!found || found.status === 'erased') return stop(`there is no account ${who}`)
    const { id, team, username, email } = found
    if (team) return stop(`${who} is a team account, which has no sign-in`)
    cli.print(oneLine(`Account ${id} (@${username}, ${email}): replace its password.`))
    const password = generate ? randomBytes(12).toString('base64url') : await readPassword(cli)
    const command = { type: 'UpdateAccount', id, password: await hashPassword(password, owner(id)) } as const
    // a link that was requested before must not replace the new password, or the address that receives resets
    await openOneTimeLinks(db, keys.service).end(id)
    const { position } = await handler.handle(account, command, operatorContext(config, id))
    await waitUntilProjected(position)
    if (generate) cli.print(`password  ${password}`)
    cli.print(`The password of account ${id} is replaced, and its sessions have ended. Its API keys stay valid.`)
  })
}
