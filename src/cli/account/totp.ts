import type { Command } from 'commander'
import { operatorContext } from '../../app/operator/caller.ts'
import { account } from '../../commands/accounts/account.ts'
import { stop } from '../../lib/operatorerror.ts'
import { findAccountBy } from '../../queries/accounts/account.ts'
import { accountForms, accountName } from './name.ts'
import type { Cli } from '../cli.ts'
import { type Confirmation, confirm, requireAnswerable, withConfirmation } from '../confirm.ts'
import { withTables } from '../ledger.ts'

/** Adds `linkledger account totp` to the commands on accounts. */
export const addTotpCommand = (accounts: Command, cli: Cli) =>
  withConfirmation(
    accounts
      .command('totp')
      .description('remove the second factor of an account whose owner has lost it')
      .argument('<account>', accountForms),
  ).action((who: string, options: Confirmation) => removeSecondFactor(cli, who, options))

const removeSecondFactor = (cli: Cli, who: string, options: Confirmation) => {
  const name = accountName(who)
  requireAnswerable(cli, options)
  return withTables(cli, async ({ config, handler, reader }, waitUntilProjected) => {
    const found = await findAccountBy(reader, name)
    if (!found || found.status === 'erased') return stop(`there is no account ${who}`)
    const { id, username, email } = found
    const { state } = await handler.load(account, id)
    if (!state.secondFactor) return cli.print(`Account ${id} has no second factor: its password alone signs in.`)
    await confirm(cli, options, `Account ${id} (@${username}, ${email}): its password alone signs in then.`)
    const { position } = await handler.handle(account, { type: 'RemoveSecondFactor', id }, operatorContext(config, id))
    await waitUntilProjected(position)
    cli.print(`Account ${id} has no second factor any more. Its password and its sessions stay as they are.`)
  })
}
