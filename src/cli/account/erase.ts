import { allErasures, registerErasures } from '../../app/log/erasures.ts'
import { operatorContext } from '../../app/operator/caller.ts'
import { account } from '../../commands/accounts/account.ts'
import { stop } from '../../lib/operatorerror.ts'
import { teamsOwnedAlone } from '../../queries/accounts/owner.ts'
import { formatErasures, registerIn } from '../../security/erasures.ts'
import type { Cli } from '../cli.ts'
import { type Confirmation, requireAnswerable } from '../confirm.ts'
import { withTables } from '../ledger.ts'
import { certificateOf } from './certificate.ts'
import { findConfirmed } from './find.ts'
import { accountName } from './name.ts'

/** Destroys the personal data of an account. */
export const erase = (cli: Cli, who: string, options: Confirmation) => {
  accountName(who)
  requireAnswerable(cli, options)
  return withTables(cli, async (ledger, waitUntilProjected) => {
    const question = 'destroy its personal data for good; its links then return 404. This cannot be undone'
    const { id } = await findConfirmed(cli, ledger, who, options, question)
    const [alone] = await teamsOwnedAlone(ledger.reader, id)
    if (alone !== undefined)
      return stop(
        `account ${id} is the last owner of team account ${alone}: make another member an owner, or erase that account first`,
      )
    // first of all: if this command is interrupted, the next start completes the erasure
    await registerErasures(ledger, [id])
    const { position } = await ledger.handler.handle(
      account,
      { type: 'EraseAccount', id },
      operatorContext(ledger.config, id),
    )
    await ledger.keys.destroy([id])
    const certificate = await certificateOf(ledger, id)
    await waitUntilProjected(position)
    cli.print(
      `Account ${id} is erased. Backups from before still hold its data: keep the newest ${registerIn(ledger.config.DATA_DIR)} with them, which erases it again when one is restored.`,
    )
    cli.print(
      certificate
        ? `Certificate of the erasure: ${JSON.stringify(certificate)}`
        : 'The certificate of the erasure is not ready.',
    )
    cli.print(
      `The service now clears the files of the database of it. \`linkledger account certificate id:${id}\` then has the time of that, too.`,
    )
  })
}

/** Prints the erasure register, also where DATA_DIR does not outlive the process. */
export const erasures = (cli: Cli) =>
  withTables(cli, async (ledger) => {
    for (const line of formatErasures(await allErasures(ledger))
      .split('\n')
      .filter(Boolean))
      cli.print(line)
  })
