import type { Command } from 'commander'
import { operatorContext } from '../../app/operator/caller.ts'
import { account } from '../../commands/accounts/account.ts'
import { stop } from '../../lib/operatorerror.ts'
import { findAccountBy } from '../../queries/accounts/account.ts'
import { accountForms, accountName } from './name.ts'
import type { Cli } from '../cli.ts'
import { type Confirmation, confirm, requireAnswerable, withConfirmation } from '../confirm.ts'
import { withTables } from '../ledger.ts'

interface OperatorOptions extends Confirmation {
  readonly remove?: boolean
}

/** Adds `linkledger account operator` to the commands on accounts. */
export const addOperatorCommand = (accounts: Command, cli: Cli) =>
  withConfirmation(
    accounts
      .command('operator')
      .description('let an account block, disable accounts and read reports on the dashboard')
      .argument('<account>', accountForms),
  )
    .option('--remove', 'end that at once')
    .action((who: string, options: OperatorOptions) => mark(cli, who, options))

const marking = { type: 'MarkOperator', question: 'see all accounts, disable them, and block links' } as const
const removing = { type: 'UnmarkOperator', question: 'no longer be an operator' } as const

const outcomeOf = (id: number, isOperator: boolean, remove: boolean) => {
  if (!isOperator) return `Account ${id} is no operator any more.`
  return remove
    ? `Account ${id} is still an operator, by its groups at the issuer: take it out of those in OIDC_OPERATORS, or disable it.`
    : `Account ${id} is an operator: its dashboard has a new entry.`
}

const mark = (cli: Cli, who: string, { remove = false, ...options }: OperatorOptions) => {
  const name = accountName(who)
  requireAnswerable(cli, options)
  return withTables(cli, async ({ config, handler, reader }, waitUntilProjected) => {
    const found = await findAccountBy(reader, name)
    if (!found || found.status === 'erased') return stop(`there is no account ${who}`)
    const { id, username, email } = found
    const { type, question } = remove ? removing : marking
    await confirm(cli, options, `Account ${id} (@${username}, ${email}) will ${question}.`)
    const { position, state } = await handler.handle(account, { type, id }, operatorContext(config, id))
    await waitUntilProjected(position)
    cli.print(outcomeOf(id, state.operator, remove))
  })
}
