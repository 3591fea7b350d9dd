import type { Command } from 'commander'
import { endManagedRoles } from '../app/accounts/groupsync.ts'
import { account } from '../commands/accounts/account.ts'
import { isSameIssuer } from '../lib/issuers.ts'
import { stop } from '../lib/operatorerror.ts'
import { partAccounts } from '../postgres/joined.ts'
import { deleteDirectoryKey, insertDirectoryKey, listDirectoryKeys } from '../postgres/scimkeys.ts'
import { proxyIssuer } from '../security/authproxy.ts'
import { newDirectoryKey } from '../security/directory.ts'
import { findConfirmed } from './account/find.ts'
import { accountForms, accountName } from './account/name.ts'
import type { Cli } from './cli.ts'
import { type Confirmation, confirm, requireAnswerable, withConfirmation } from './confirm.ts'
import { withLedger, withTables } from './ledger.ts'
import { oneLine } from './oneline.ts'

/** `linkledger scim …` */
export const addScimCommands = (program: Command, cli: Cli) => {
  const scim = program
    .command('scim')
    .description('manage what directories of organizations provision users with (SCIM)')
  withConfirmation(
    scim
      .command('leave')
      .description('take an account out of the reach of directories')
      .argument('<account>', accountForms),
  ).action((who: string, options: Confirmation) => leave(cli, who, options))
  const keys = scim.command('key').description('manage the keys of directories')
  keys
    .command('add')
    .description('make a key, and print it once')
    .option(
      '--issuer <address>',
      'the issuer whose users it changes; default OIDC_ISSUER, or `proxy` with AUTH_PROXY_HEADER',
    )
    .action((options: { readonly issuer?: string }) => add(cli, options.issuer))
  keys
    .command('list')
    .description('list the keys, without their secrets')
    .action(() => list(cli))
  withConfirmation(
    keys.command('remove').description('end a key at once').argument('<number>', 'as `list` prints it'),
  ).action((number: string, options: Confirmation) => remove(cli, number, options))
}

const add = (cli: Cli, given: string | undefined) =>
  withLedger(cli, async ({ config, db, keys }) => {
    const own = config.AUTH_PROXY_HEADER === undefined ? config.OIDC_ISSUER : proxyIssuer
    const named = given ?? own ?? stop('name the issuer with --issuer, or set OIDC_ISSUER')
    // in another spelling, it would be another directory
    const known = (await listDirectoryKeys(db)).find((one) => isSameIssuer(one.issuer, named))
    const issuer = known?.issuer ?? named
    const { key, hash } = newDirectoryKey(keys.service)
    const number = await insertDirectoryKey(db, issuer, hash)
    cli.print(`number    ${number}`)
    cli.print(`issuer    ${oneLine(issuer)}`)
    cli.print(`address   ${config.BASE_URL ?? ''}/scim/v2`)
    cli.print(`key       ${key}`)
    cli.print('This is the only time that the key is shown.')
    if (own === undefined || !isSameIssuer(issuer, own))
      cli.print('People do not sign in with this issuer now: what its directory sends ends no access here.')
  })

const list = (cli: Cli) =>
  withLedger(cli, async ({ db }) => {
    const found = await listDirectoryKeys(db)
    if (found.length === 0) cli.print('There are no keys: no directory provisions users.')
    for (const { id, issuer, created } of found)
      cli.print(`${id.padStart(4)}  ${created.toISOString().slice(0, 10)}  ${oneLine(issuer)}`)
  })

const remove = (cli: Cli, number: string, options: Confirmation) => {
  requireAnswerable(cli, options)
  return withLedger(cli, async ({ db }) => {
    const found = (await listDirectoryKeys(db)).find(({ id }) => id === number)
    if (!found) return stop(`there is no key ${oneLine(number)}`)
    await confirm(cli, options, `Key ${number} of ${found.issuer} will end. Who it has shut out stays so.`)
    await deleteDirectoryKey(db, Number(number))
    cli.print(`Key ${number} has ended.`)
  })
}

const leave = (cli: Cli, who: string, options: Confirmation) => {
  accountName(who)
  requireAnswerable(cli, options)
  return withTables(cli, async (ledger) => {
    const { id } = await findConfirmed(cli, ledger, who, options, 'no directory will end its access any more')
    await endManagedRoles(ledger, id)
    await partAccounts(ledger.db, [id])
    const { deactivated, identities } = (await ledger.handler.load(account, id)).state
    cli.print(`Account ${id} is out of the reach of directories, and has no roles by groups.`)
    if (identities.length > 0) cli.print('A sign-in with an identity that it still has brings it back.')
    if (deactivated) cli.print('A directory has ended its access: `linkledger account enable` gives it back.')
  })
}
