import { allErasures, registerErasures } from '../../app/log/erasures.ts'
import type { Ledger } from '../../app/log/ledger.ts'
import { operatorContext } from '../../app/operator/caller.ts'
import { receiptNow } from '../../app/proof/proofs.ts'
import { account } from '../../commands/accounts/account.ts'
import { streamId } from '../../events/streams.ts'
import { formatErasures, registerIn } from '../../security/erasures.ts'
import { fingerprint } from '../../security/seal.ts'
import type { Cli } from '../cli.ts'
import { type Confirmation, requireAnswerable } from '../confirm.ts'
import { withTables } from '../ledger.ts'
import { findConfirmed } from './find.ts'
import { accountName } from './name.ts'

/** Destroys the personal data of an account. */
export const erase = (cli: Cli, who: string, options: Confirmation) => {
  accountName(who)
  requireAnswerable(cli, options)
  return withTables(cli, async (ledger, waitUntilProjected) => {
    const question = 'destroy its personal data for good; its links then return 404. This cannot be undone'
    const { id } = await findConfirmed(cli, ledger, who, options, question)
    // first of all: if this command is interrupted, the next start completes the erasure
    await registerErasures(ledger, [id])
    const { position } = await ledger.handler.handle(
      account,
      { type: 'EraseAccount', id },
      operatorContext(ledger.config, id),
    )
    const certificate = await certifyErasure(ledger, id)
    await waitUntilProjected(position)
    cli.print(
      `Account ${id} is erased. Backups from before still hold its data: keep the newest ${registerIn(ledger.config.DATA_DIR)} with them, which erases it again when one is restored.`,
    )
    cli.print(certificate)
  })
}

/**
 * Destroys the key of an account that was just erased. Returns the certificate: the receipt of the erasure, and which
 * key was destroyed. What is sealed in the log begins with the mark of its key.
 */
const certifyErasure = async (ledger: Ledger, id: number) => {
  const { keys, store } = ledger
  const key = (await keys.forOpening([id])).get(id)
  await keys.destroy([id])
  const last = await store.last(streamId('account', id))
  const receipt =
    last?.type === 'AccountErased' ? await receiptNow(ledger, last.position).catch(() => undefined) : undefined
  if (!receipt) return 'The certificate of the erasure is not ready: print it with `linkledger proof event` later.'
  const destroyed = { name: `account-${id}`, mark: key ? fingerprint(key) : null }
  return `Certificate of the erasure: ${JSON.stringify({ account: id, destroyed, ...receipt })}`
}

/** Prints the erasure register, also where DATA_DIR does not outlive the process. */
export const erasures = (cli: Cli) =>
  withTables(cli, async (ledger) => {
    for (const line of formatErasures(await allErasures(ledger))
      .split('\n')
      .filter(Boolean))
      cli.print(line)
  })
