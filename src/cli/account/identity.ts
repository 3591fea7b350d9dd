import type { Command } from 'commander'
import { endManagedRoles } from '../../app/accounts/groupsync.ts'
import { operatorContext } from '../../app/operator/caller.ts'
import { account } from '../../commands/accounts/account.ts'
import { claimedIdentity } from '../../commands/accounts/register.ts'
import type { Cli } from '../cli.ts'
import { type Confirmation, requireAnswerable, withConfirmation } from '../confirm.ts'
import { withTables } from '../ledger.ts'
import { oneLine } from '../oneline.ts'
import { stop } from '../../lib/operatorerror.ts'
import { partAccounts } from '../../postgres/joined.ts'
import { proxyIssuer } from '../../security/authproxy.ts'
import { personKeys } from '../../security/directory.ts'
import { findAccountBy } from '../../queries/accounts/account.ts'
import { findConfirmed } from './find.ts'
import { accountForms, accountName } from './name.ts'

/** Adds `linkledger account identity` to the commands on accounts. */
export const addIdentityCommands = (accounts: Command, cli: Cli) => {
  const identities = accounts.command('identity').description('manage who signs in to an account with an issuer')
  const onAccount = (name: string, description: string) =>
    identities.command(name).description(description).argument('<account>', accountForms)
  withConfirmation(
    onAccount('add', 'let a person sign in to an account')
      .argument('<subject>', 'the `sub` by which the issuer knows them')
      .option('--issuer <address>', 'the issuer; default OIDC_ISSUER, or `proxy` with AUTH_PROXY_HEADER'),
  ).action((who: string, subject: string, options: Confirmation & { readonly issuer?: string }) =>
    add(cli, who, subject, options),
  )
  withConfirmation(
    onAccount('remove', 'end that, and the sessions that it has opened').argument('<number>', 'as `list` prints it'),
  ).action((who: string, number: string, options: Confirmation) => remove(cli, who, number, options))
  onAccount('list', 'list who signs in to an account').action((who: string) => list(cli, who))
}

const add = (
  cli: Cli,
  who: string,
  subject: string,
  { issuer: given, ...options }: Confirmation & { readonly issuer?: string },
) => {
  accountName(who)
  requireAnswerable(cli, options)
  return withTables(cli, async (ledger, waitUntilProjected) => {
    const { config, handler, keys } = ledger
    const own = config.AUTH_PROXY_HEADER === undefined ? config.OIDC_ISSUER : proxyIssuer
    const issuer = given ?? own ?? stop('name the issuer with --issuer, or set OIDC_ISSUER')
    const question = `let ${JSON.stringify(subject)} of ${issuer} sign in`
    const { id } = await findConfirmed(cli, ledger, who, options, question)
    const identity = claimedIdentity(keys.service, { issuer, subject, name: null })
    const { position } = await handler.handle(
      account,
      { type: 'AddIdentity', id, identity },
      operatorContext(config, id),
    )
    await waitUntilProjected(position)
    cli.print(`${oneLine(subject)} can sign in to account ${id} with ${oneLine(issuer)}.`)
  })
}

const remove = (cli: Cli, who: string, number: string, options: Confirmation) => {
  accountName(who)
  requireAnswerable(cli, options)
  return withTables(cli, async (ledger, waitUntilProjected) => {
    const { config, handler, keys } = ledger
    const { id } = await findConfirmed(cli, ledger, who, options, `remove identity ${number}; its sessions end`)
    const command = { type: 'RemoveIdentity', id, number: Number(number) || Infinity, by: 'operator' } as const
    const removed = (await handler.load(account, id)).state.identities.find((one) => String(one.number) === number)
    const { position, state } = await handler.handle(account, command, operatorContext(config, id))
    await waitUntilProjected(position)
    await endManagedRoles(ledger, id)
    // people who still sign in to it remain subject to their directory
    const { issuer, subject } = removed ?? {}
    const isOne = state.identities.length > 0 && issuer && subject
    await partAccounts(ledger.db, [id], isOne ? personKeys(keys.service, issuer, subject) : undefined)
    cli.print(`Identity ${number} of account ${id} is removed, and its sessions have ended.`)
    if (state.identities.length + state.passkeys.length === 0 && state.password === null)
      cli.print('There is no way to sign in to the account now: add another identity, or set a password.')
  })
}

const list = (cli: Cli, who: string) => {
  const name = accountName(who)
  return withTables(cli, async ({ handler, reader }) => {
    const found = await findAccountBy(reader, name)
    if (!found || found.status === 'erased') return stop(`there is no account ${who}`)
    const { identities } = (await handler.load(account, found.id)).state
    if (identities.length === 0) return cli.print(`Account ${found.id} has no identities: no issuer signs in to it.`)
    for (const { number, issuer, subject, name: called } of identities)
      cli.print(
        `${String(number).padStart(4)}  ${[issuer, subject, called].map((one) => oneLine(one ?? '')).join('  ')}`,
      )
  })
}
