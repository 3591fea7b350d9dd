import type { Ledger } from '../../app/log/ledger.ts'
import { receiptNow } from '../../app/proof/proofs.ts'
import type { LogEvent } from '../../events/index.ts'
import { remains } from '../../events/register.ts'
import { streamId } from '../../events/streams.ts'
import { OperatorError } from '../../lib/operatorerror.ts'
import { BadCommand, type Cli } from '../cli.ts'
import { withTables } from '../ledger.ts'
import { accountName } from './name.ts'

/** Returns the mark of the account's key: what is sealed in the log begins with it. */
const markOf = async ({ stored }: Ledger, stream: string): Promise<string | null> => {
  for await (const { data } of stored.read(stream, 0n, 1)) {
    const { email, username } = data as { readonly email?: unknown; readonly username?: unknown }
    const sealed = email ?? username
    return typeof sealed === 'string' ? (sealed.split('.')[0] ?? null) : null
  }
  return null
}

/**
 * Returns the certificate of an erasure: its receipt, which key was destroyed, what stays in the log, and, once the
 * files of the database have nothing of the account any more, the receipt of that. Undefined while there is no erasure,
 * or no checkpoint has it.
 */
export const certificateOf = async (ledger: Ledger, id: number): Promise<object | undefined> => {
  const stream = streamId('account', id)
  const positions = new Map<LogEvent['type'], bigint>()
  for await (const { type, position } of ledger.store.read(stream)) positions.set(type, position)
  const receiptOf = async (type: LogEvent['type']) => {
    const position = positions.get(type)
    return position === undefined ? undefined : receiptNow(ledger, position).catch(() => undefined)
  }
  const receipt = await receiptOf('AccountErased')
  const disk = await receiptOf('AccountErasedOnDisk')
  const destroyed = { name: stream, mark: await markOf(ledger, stream) }
  return receipt && { account: id, destroyed, remains, ...receipt, ...(disk && { disk }) }
}

/** Prints the certificate of an erasure. */
export const certificate = (cli: Cli, who: string) => {
  const name = accountName(who)
  if (!('id' in name)) throw new BadCommand('an erased account has no name any more: write id:7')
  return withTables(cli, async (ledger) => {
    const found = await certificateOf(ledger, name.id)
    if (!found) throw new OperatorError(`account ${name.id} is not erased, or no checkpoint of the log shows it yet`)
    cli.print(JSON.stringify(found))
  })
}
