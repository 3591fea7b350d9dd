import type { Command } from 'commander'
import { operatorContext } from '../../app/operator/caller.ts'
import { account } from '../../commands/accounts/account.ts'
import { stop } from '../../lib/operatorerror.ts'
import { findAccountBy } from '../../queries/accounts/account.ts'
import { accountForms, accountName } from './name.ts'
import { BadCommand, type Cli } from '../cli.ts'
import { withTables } from '../ledger.ts'
import { oneLine } from '../oneline.ts'

const most = 1_000_000

/** Adds `linkledger account limit` to the commands on accounts. */
export const addLimitCommand = (accounts: Command, cli: Cli) =>
  accounts
    .command('limit')
    .description('set the rate limit of an account, for example for an import')
    .argument('<account>', accountForms)
    .argument('<requests>', 'requests per minute, 0 for no limit, or `default` for RATE_LIMIT_PER_MINUTE')
    .action((who: string, requests: string) => setLimit(cli, who, requests))

/** Returns the limit; null for the default. */
const limitIn = (text: string) => {
  if (text === 'default') return null
  if (/^\d{1,7}$/.test(text) && Number(text) <= most) return Number(text)
  throw new BadCommand(`the limit must be a whole number from 0 to ${most} or \`default\`, not ${JSON.stringify(text)}`)
}

const setLimit = (cli: Cli, who: string, requests: string) => {
  const name = accountName(who)
  const limit = limitIn(requests)
  return withTables(cli, async ({ config, handler, reader }, waitUntilProjected) => {
    const found = await findAccountBy(reader, name)
    if (!found || found.status === 'erased') return stop(`there is no account ${who}`)
    const { id, username, email } = found
    const command = { type: 'SetRateLimit', id, limit } as const
    const { position } = await handler.handle(account, command, operatorContext(config, id))
    await waitUntilProjected(position)
    const effective = limit ?? config.RATE_LIMIT_PER_MINUTE
    const allowed = effective === 0 ? 'any number of requests' : `${effective} requests per minute`
    cli.print(
      oneLine(`Account ${id} (@${username}, ${email}) may send ${allowed}${limit === null ? ', the default' : ''}.`),
    )
  })
}
