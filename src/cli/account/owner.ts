import type { Command } from 'commander'
import { operatorContext } from '../../app/operator/caller.ts'
import { memberOf } from '../../commands/accounts/roster.ts'
import { team } from '../../commands/accounts/team.ts'
import { stop } from '../../lib/operatorerror.ts'
import { findAccountBy } from '../../queries/accounts/account.ts'
import type { Cli } from '../cli.ts'
import { type Confirmation, requireAnswerable, withConfirmation } from '../confirm.ts'
import { withTables } from '../ledger.ts'
import { findConfirmed } from './find.ts'
import { accountForms, accountName } from './name.ts'

/** Adds `linkledger account owner` to the commands on accounts. */
export const addOwnerCommand = (accounts: Command, cli: Cli) =>
  withConfirmation(
    accounts
      .command('owner')
      .description('make a member of an account its owner, as where a directory has ended the access of the last one')
      .argument('<account>', accountForms)
      .argument('<member>', 'the own account of the member, in one of the same forms'),
  ).action((who: string, member: string, options: Confirmation) => makeOwner(cli, who, member, options))

const makeOwner = (cli: Cli, who: string, member: string, options: Confirmation) => {
  accountName(who)
  const name = accountName(member)
  requireAnswerable(cli, options)
  return withTables(cli, async (ledger, waitUntilProjected) => {
    const { config, handler, reader } = ledger
    const person = await findAccountBy(reader, name)
    if (!person || person.status === 'erased') return stop(`there is no account ${member}`)
    const { id } = await findConfirmed(cli, ledger, who, options, `account ${person.id} becomes an owner`)
    const { number } =
      memberOf((await handler.load(team, id)).state, id, person.id) ??
      stop(`account ${person.id} is no member of account ${id}`)
    if (person.id === id) return stop('its own sign-in is its owner')
    const command = { type: 'ChangeRole', id, member: number, role: 'owner', by: undefined } as const
    const { position } = await handler.handle(team, command, operatorContext(config, id))
    await waitUntilProjected(position)
    cli.print(`Account ${person.id} is an owner of account ${id}.`)
  })
}
