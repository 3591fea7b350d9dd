import type { Command } from 'commander'
import type { Ledger } from '../app/log/ledger.ts'
import { KeysLost, requireAccountKeys } from '../app/log/lostkeys.ts'
import { openCounter } from '../app/proof/counter.ts'
import { openSigner } from '../app/proof/proofs.ts'
import type { Finding } from '../app/proof/finding.ts'
import { readCheckpoint } from '../app/proof/checkpointcheck.ts'
import { verifyLog } from '../app/proof/verify.ts'
import { verifyTables } from '../app/proof/tables.ts'
import { OperatorError } from '../lib/operatorerror.ts'
import { keepVerification } from '../postgres/checkpoints.ts'
import { parseVerifier } from '../lib/transparency/note.ts'
import type { Cli } from './cli.ts'
import { progressBar } from './engines.ts'
import { withLedger } from './ledger.ts'
import { readText } from './readtext.ts'
import { untilStopped } from './untilstopped.ts'

/** The log, its tree, its checkpoints and its tables do not agree. */
class NotVerified extends OperatorError {
  override readonly name = 'NotVerified'
}

interface Options {
  readonly checkpoint?: string
  readonly tables?: true
}

/** `linkledger verify` */
export const addVerifyCommand = (program: Command, cli: Cli) =>
  program
    .command('verify')
    .description('read the whole log again, and compare it with its Merkle tree and every signed checkpoint')
    .option('--checkpoint <file>', 'a checkpoint that was kept elsewhere, as /log/checkpoint has answered it')
    .option('--tables', 'also make all read tables again, and compare them and the unique names with the log')
    .addHelpText(
      'after',
      '\nIt works next to a running service. --tables needs as much room in the database as the read tables have, until it ends.',
    )
    .action((options: Options) => verify(cli, options))

const checkLog = async (cli: Cli, ledger: Ledger, file: string | undefined): Promise<readonly Finding[]> => {
  const verifier = parseVerifier((await openSigner(ledger)).publicKey)!
  const kept = file === undefined ? undefined : await readText(file)
  if (kept !== undefined && !readCheckpoint(kept, verifier))
    throw new OperatorError(
      `${file} is no checkpoint that the key of this log has signed: it must be what /log/checkpoint has answered`,
    )
  const { show, stop } = progressBar()
  const started = performance.now()
  const { events, clicks, checkpoints, signed, findings } = await verifyLog({
    ...ledger,
    verifier,
    counter: await openCounter(ledger),
    outside: kept === undefined ? [] : [kept],
    onProgress: (position, head) => show('log', { position, head }),
  }).finally(stop)
  const seconds = Math.max(0.001, (performance.now() - started) / 1000)
  cli.print(`events       ${events} (${Math.round(events / seconds)} per second)`)
  cli.print(`clicks       ${clicks} (${Math.round(clicks / seconds)} per second)`)
  cli.print(`checkpoints  ${checkpoints}`)
  const unsigned = events - signed
  if (unsigned > 0) cli.print(`unsigned     ${unsigned}, the newest: no checkpoint shows a change of them`)
  if (findings.length === 0) await keepVerification(ledger.db, events)
  return findings
}

const checkTables = async (cli: Cli, ledger: Ledger, signal: AbortSignal): Promise<readonly string[]> => {
  const { show, stop } = progressBar()
  const { through, tables, rows, findings, unreadable, notes } = await verifyTables(ledger, {
    onProgress: (events, all) => show('tables', { position: BigInt(events), head: BigInt(all) }),
    signal,
  }).finally(stop)
  for (const note of notes) cli.print(`note         ${note}`)
  if (findings.length + unreadable.length === 0) {
    cli.print(`tables       exact through event ${through} (${tables} tables, ${rows} rows)`)
    return []
  }
  const cure = findings.length > 0 ? ['`linkledger rebuild` makes the tables again.'] : []
  return [
    'The tables do not say what the log says:',
    ...[...unreadable, ...findings].map((text) => `  ${text}`),
    ...cure,
  ]
}

const headings: Readonly<Record<Finding['of'], string>> = {
  log: 'The log does not hold:',
  checkpoints: 'The signed checkpoints are not as they were:',
  tree: 'The tree over the log is not as it was:',
}

/** Returns the findings about the log, its checkpoints and its tree, in this order. */
const describe = (findings: readonly Finding[]): readonly string[] =>
  (['log', 'checkpoints', 'tree'] as const).flatMap((of) => {
    const texts = findings.filter((finding) => finding.of === of).map(({ text }) => `  ${text}`)
    return texts.length > 0 ? [headings[of], ...texts] : []
  })

const verify = async (cli: Cli, { checkpoint, tables }: Options) => {
  const isStopped = await untilStopped((signal) =>
    withLedger(
      cli,
      async (ledger) => {
        const findings = await checkLog(cli, ledger, checkpoint)
        signal.throwIfAborted()
        if (findings.every(({ of }) => of === 'tree'))
          cli.print('The log holds: no event was changed, added or removed.')
        await requireAccountKeys(ledger.reader, ledger.store).catch((error: unknown) => {
          // a comparison of tables with an unreadable log would recommend a rebuild
          throw error instanceof KeysLost ? new NotVerified([...describe(findings), error.message].join('\n')) : error
        })
        if (!tables) {
          if (findings.length > 0) throw new NotVerified(describe(findings).join('\n'))
          return
        }
        // print the findings in any case, before the result of the tables
        if (findings.length > 0) cli.printError(describe(findings).join('\n'))
        const wrong = await checkTables(cli, ledger, signal)
        if (wrong.length > 0) throw new NotVerified(wrong.join('\n'))
        if (findings.length > 0) throw new NotVerified('the tables say what the log says, but see above')
      },
      { keepsTables: true },
    ),
  )
  if (isStopped) throw new OperatorError('stopped: nothing is left of it')
}
