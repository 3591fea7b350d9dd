import type { Command } from 'commander'
import type { z } from 'zod'
import { openProofs, openSigner, proveExtension } from '../../app/proof/proofs.ts'
import { isOrdinal } from '../../events/ordinals.ts'
import {
  BadReceipt,
  Extension,
  Receipt,
  signedCheckpoint,
  verifyExtension,
  verifyReceipt,
} from '../../events/proof/receipt.ts'
import { OperatorError } from '../../lib/operatorerror.ts'
import { parseVerifier, type Verifier } from '../../lib/transparency/note.ts'
import { BadCommand, type Cli } from '../cli.ts'
import { withLedger } from '../ledger.ts'
import { oneLine } from '../oneline.ts'
import { addProofRestart } from './restart.ts'
import { readText } from '../readtext.ts'

/** The receipt does not prove its claim. */
class NotProved extends OperatorError {
  override readonly name = 'NotProved'
}

/** The certificate of an erasure is a receipt, and has another one of the moment when files were cleared of it. */
const Certificate = Receipt.extend({ disk: Receipt.optional() })

/** `linkledger proof …` */
export const addProofCommands = (program: Command, cli: Cli) => {
  const proofs = program.command('proof').description('prove what the event log holds: see docs/proof.md')
  proofs
    .command('key')
    .description('print the public key that verifies the checkpoints of the log')
    .action(() => withLedger(cli, async (ledger) => cli.print((await openSigner(ledger)).publicKey)))
  proofs
    .command('verify')
    .description('check a receipt of an event, a click or an erasure; asks no service')
    .argument('<file>', 'the receipt, as the API has answered it')
    .requiredOption('--key <key>', 'the public key of the log: `linkledger proof key`')
    .action((file: string, { key }: { readonly key: string }) => verifyFile(cli, file, key))
  proofs
    .command('consistency')
    .description('print the proof that the log begins with what a checkpoint says, which was kept elsewhere')
    .argument('<file>', 'the checkpoint, as /log/checkpoint has answered it')
    .action((file: string) => printExtension(cli, file))
  proofs
    .command('extends')
    .description('check such a proof; asks no service')
    .argument('<proof>', 'the answer of /log/consistency/<size>, or of `linkledger proof consistency`')
    .requiredOption('--checkpoint <file>', 'the checkpoint that was kept')
    .requiredOption('--key <key>', 'the public key of the log: `linkledger proof key`')
    .action((file: string, options: { readonly checkpoint: string; readonly key: string }) =>
      verifyExtended(cli, file, options),
    )
  proofs
    .command('event')
    .description('print the receipt of an event')
    .argument('<ordinal>', 'number of the event in the log, from 0')
    .action((ordinal: string) => printReceipt(cli, ordinal))
  addProofRestart(proofs, cli)
}

const parse = <T>(schema: z.ZodType<T>, file: string, what: string, text: string): T => {
  try {
    return schema.parse(JSON.parse(text))
  } catch (cause) {
    throw new NotProved(`${file} is not ${what}: it begins with ${oneLine(text.slice(0, 80)).trim()}`, { cause })
  }
}

const check = <T>(what: string, verify: () => T): T => {
  try {
    return verify()
  } catch (error) {
    throw error instanceof BadReceipt ? new NotProved(`${what} is not valid: ${error.message}`) : error
  }
}

const verifierOf = (key: string): Verifier => {
  const verifier = parseVerifier(key)
  if (!verifier) throw new BadCommand('--key must be a key as `linkledger proof key` prints it')
  return verifier
}

const verifyFile = async (cli: Cli, file: string, key: string) => {
  const verifier = verifierOf(key)
  const { disk, ...receipt } = parse(Certificate, file, 'a receipt', await readText(file))
  for (const one of disk ? [receipt, disk] : [receipt]) {
    const { origin, size } = check('the receipt', () => verifyReceipt(one, verifier))
    cli.print(
      `Valid: event ${one.proof.index} is in ${origin}, whose checkpoint of ${size} events is signed by this key.`,
    )
    cli.print(one.click ?? one.event)
  }
}

const verifyExtended = async (
  cli: Cli,
  file: string,
  { checkpoint, key }: { readonly checkpoint: string; readonly key: string },
) => {
  const verifier = verifierOf(key)
  const kept = await readText(checkpoint)
  const older = check(checkpoint, () => signedCheckpoint(kept, verifier))
  const proof = parse(Extension, file, 'a proof of consistency', await readText(file))
  const { origin, size } = check('the proof', () => verifyExtension(proof, older, verifier))
  cli.print(`Valid: the ${size} events of ${origin} begin with the ${older.size} of ${checkpoint}, unchanged.`)
}

const printExtension = async (cli: Cli, file: string) => {
  const text = await readText(file)
  await withLedger(cli, async (ledger) => {
    const verifier = verifierOf((await openSigner(ledger)).publicKey)
    const older = check(file, () => signedCheckpoint(text, verifier))
    const proof = await proveExtension(ledger.db, older.size)
    if (!proof)
      throw new OperatorError(
        `the newest signed checkpoint has fewer events than ${file} (${older.size}): \`linkledger verify --checkpoint\` says more`,
      )
    cli.print(JSON.stringify(proof))
  })
}

const printReceipt = (cli: Cli, text: string) => {
  const ordinal = Number(text)
  if (!isOrdinal(ordinal)) throw new BadCommand('the number of an event is 0, 1, 2, …')
  return withLedger(cli, async (ledger) => {
    const receipt = await openProofs(ledger).ofEvent(ordinal)
    if (receipt === undefined) throw new OperatorError(`the log has no event ${ordinal}`)
    if (receipt === 'unsigned')
      throw new OperatorError(`event ${ordinal} is in no signed checkpoint yet: try again in a minute`)
    cli.print(JSON.stringify(receipt))
  })
}
