import type { Command } from 'commander'
import { operatorContext } from '../../app/operator/caller.ts'
import { account } from '../../commands/accounts/account.ts'
import { timestamp } from '../../lib/fields.ts'
import { stop } from '../../lib/operatorerror.ts'
import { findAccountBy } from '../../queries/accounts/account.ts'
import type { Cli } from '../cli.ts'
import { type Confirmation, requireAnswerable, withConfirmation } from '../confirm.ts'
import { withTables } from '../ledger.ts'
import { oneLine } from '../oneline.ts'
import { findConfirmed } from './find.ts'
import { accountForms, accountName } from './name.ts'

/** Adds `linkledger account passkey` to the commands on accounts. */
export const addPasskeyCommands = (accounts: Command, cli: Cli) => {
  const passkeys = accounts.command('passkey').description('manage the passkeys that sign in to an account')
  const onAccount = (name: string, description: string) =>
    passkeys.command(name).description(description).argument('<account>', accountForms)
  onAccount('list', 'list the passkeys of an account').action((who: string) => list(cli, who))
  withConfirmation(
    onAccount('remove', 'remove one, and end the sessions that it has opened').argument(
      '<number>',
      'as `list` prints it',
    ),
  ).action((who: string, number: string, options: Confirmation) => remove(cli, who, number, options))
}

const remove = (cli: Cli, who: string, number: string, options: Confirmation) => {
  accountName(who)
  requireAnswerable(cli, options)
  return withTables(cli, async (ledger, waitUntilProjected) => {
    const { config, handler } = ledger
    const { id } = await findConfirmed(cli, ledger, who, options, `remove passkey ${number}; its sessions end`)
    const command = { type: 'RemovePasskey', id, number: Number(number) || Infinity, by: 'operator' } as const
    const { position, state } = await handler.handle(account, command, operatorContext(config, id))
    await waitUntilProjected(position)
    cli.print(`Passkey ${number} of account ${id} is removed, and its sessions have ended.`)
    if (state.identities.length + state.passkeys.length === 0 && state.password === null)
      cli.print('There is no way to sign in to the account now: add an identity, or set a password.')
  })
}

const list = (cli: Cli, who: string) => {
  const name = accountName(who)
  return withTables(cli, async ({ handler, reader }) => {
    const found = await findAccountBy(reader, name)
    if (!found || found.status === 'erased') return stop(`there is no account ${who}`)
    const { passkeys } = (await handler.load(account, found.id)).state
    if (passkeys.length === 0) return cli.print(`Account ${found.id} has no passkeys.`)
    for (const { number, name: called, added } of passkeys)
      cli.print(`${String(number).padStart(4)}  ${timestamp(added)}  ${oneLine(called ?? '')}`)
  })
}
