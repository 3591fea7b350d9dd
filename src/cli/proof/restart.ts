import type { Command } from 'commander'
import type { Ledger } from '../../app/log/ledger.ts'
import { openCounter } from '../../app/proof/counter.ts'
import { openSigner } from '../../app/proof/proofs.ts'
import { verifyLog } from '../../app/proof/verify.ts'
import { parseVerifier } from '../../lib/transparency/note.ts'
import { OperatorError } from '../../lib/operatorerror.ts'
import { forgetCheckpoints, keptCheckpoints, type KeptCheckpoint } from '../../postgres/checkpoints.ts'
import { leaveOutLostIds, lostIds } from '../../postgres/ids.ts'
import { dropTree } from '../../projections/proof/tree.ts'
import { ProofKeyLost } from '../../security/keyring.ts'
import type { Cli } from '../cli.ts'
import { type Confirmation, confirm, requireAnswerable, withConfirmation } from '../confirm.ts'
import { withLedger } from '../ledger.ts'

type Options = Confirmation & { readonly newKey?: true }

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
        '\nThe Merkle tree grows again from the log as it is. The checkpoints are printed: auditors who have kept one will see that the log was changed. A million ids of each kind are left out, which a lost end of the log may have given.',
      ),
  )
    .option('--new-key', 'make another signing key in place of one that is lost, and give up all that it has signed')
    .action((options: Options) => {
      requireAnswerable(cli, options)
      return withLedger(cli, (ledger) =>
        options.newKey ? replaceKey(cli, ledger, options) : restart(cli, ledger, options),
      )
    })

const replaceKey = async (cli: Cli, ledger: Ledger, options: Confirmation) => {
  const { db } = ledger
  if (await openSigner(ledger).catch(ifLost))
    throw new OperatorError('the key that signs the checkpoints of this log is there: there is none to replace')
  const kept = await keptCheckpoints(db)
  await confirm(
    cli,
    options,
    `All ${kept.length} signed checkpoints are given up, with every receipt and checkpoint that anybody has kept: nothing proves any more that the log is the one that they are of. A backup that has the key in state.keys is the better way.`,
  )
  await leaveOutLostIds(db)
  const forgotten = await forgetCheckpoints(
    db,
    kept.map(({ size }) => size),
  )
  await (await openCounter(ledger)).restart(db)
  giveUp(cli, forgotten)
  cli.print(`The new key: ${(await openSigner(ledger)).publicKey}`)
}

const ifLost = (error: unknown): undefined => {
  if (!(error instanceof ProofKeyLost)) throw error
}

const giveUp = (cli: Cli, forgotten: readonly KeptCheckpoint[]) => {
  for (const { note } of forgotten) cli.print(`\n${note}`)
  cli.print('Done: the running service adds the log to the tree again, and signs the next checkpoint then.')
}

const restart = async (cli: Cli, ledger: Ledger, options: Confirmation) => {
  const { db } = ledger
  const verifier = parseVerifier((await openSigner(ledger)).publicKey)!
  const counter = await openCounter(ledger)
  const { events, broken, findings } = await verifyLog({ ...ledger, verifier, counter })
  for (const { text } of findings) cli.print(text)
  if (findings.every(({ of }) => of === 'tree')) {
    // so it does after its checkpoints have gone back with it, of which only the DATA_DIR of before knows
    await confirm(
      cli,
      options,
      `The log holds: there is nothing to give up. The next ${lostIds} ids of each kind are not given, since events that were lost with an end of the log may have them.`,
    )
    await leaveOutLostIds(db)
    return
  }
  await confirm(
    cli,
    options,
    `The tree grows again from the ${events} events of the log, and ${broken.length} signed checkpoints that it does not fit are given up. Receipts that have them prove nothing about this log any more.`,
  )
  // first: once the others are done, nothing shows what is left to do
  await leaveOutLostIds(db)
  const forgotten = await forgetCheckpoints(db, broken)
  await dropTree(db)
  await counter.restart(db)
  giveUp(cli, forgotten)
}
