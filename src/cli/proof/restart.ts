import type { Command } from 'commander'
import type { Ledger } from '../../app/log/ledger.ts'
import { openCounter } from '../../app/proof/counter.ts'
import { openSigner } from '../../app/proof/proofs.ts'
import { verifyLog } from '../../app/proof/verify.ts'
import { parseVerifier } from '../../lib/note.ts'
import { forgetCheckpoints } from '../../postgres/checkpoints.ts'
import { dropTree } from '../../projections/proof/tree.ts'
import type { Cli } from '../cli.ts'
import { type Confirmation, confirm, requireAnswerable, withConfirmation } from '../confirm.ts'
import { withLedger } from '../ledger.ts'

/** `linkledger proof restart` */
export const addProofRestart = (proofs: Command, cli: Cli) =>
  withConfirmation(
    proofs
      .command('restart')
      .description(
        'give up the signed checkpoints that the log does not fit, after it was restored from an older backup',
      )
      .addHelpText(
        'after',
        '\nThe Merkle tree grows again from the log as it is. The checkpoints are printed: auditors who have kept one will see that the log was changed.',
      ),
  ).action((options: Confirmation) => {
    requireAnswerable(cli, options)
    return withLedger(cli, (ledger) => restart(cli, ledger, options))
  })

const restart = async (cli: Cli, ledger: Ledger, options: Confirmation) => {
  const { db } = ledger
  const verifier = parseVerifier((await openSigner(ledger)).publicKey)!
  const counter = await openCounter(ledger)
  const { events, broken, findings } = await verifyLog({ ...ledger, verifier, counter })
  for (const { text } of findings) cli.print(text)
  if (findings.every(({ of }) => of === 'tree')) {
    cli.print('The log holds: there is nothing to give up.')
    return
  }
  await confirm(
    cli,
    options,
    `The tree grows again from the ${events} events of the log, and ${broken.length} signed checkpoints that it does not fit are given up. Receipts that have them prove nothing about this log any more.`,
  )
  const forgotten = await forgetCheckpoints(db, broken)
  await dropTree(db)
  await counter.restart(db)
  for (const { note } of forgotten) cli.print(`\n${note}`)
  cli.print('Done: the running service adds the log to the tree again, and signs the next checkpoint then.')
}
