import { OperatorError } from '../../lib/operatorerror.ts'
import { NotReady } from '../../lib/unavailable.ts'
import { lostKeys } from '../../queries/accounts/lostkeys.ts'
import type { Reader } from '../../queries/reader.ts'

/** Keys of accounts are missing, while the tables still have their texts. */
export class KeysLost extends OperatorError {
  override readonly name = 'KeysLost'
}

/** accounts that are named */
const most = 10

const undefinedTable = '42P01'

/** Tables that are filled for the first time, or are gone, have no texts. A rebuild makes them again. */
const find = (reader: Reader, options: Parameters<typeof lostKeys>[1]) =>
  lostKeys(reader, options).catch((error: unknown): readonly number[] => {
    if (error instanceof NotReady || (error as { readonly code?: string }).code === undefinedTable) return []
    throw error
  })

/** Whether the key of an account is missing, while the tables still have its texts. */
export const isKeyLost = async (reader: Reader, account: number): Promise<boolean> =>
  (await find(reader, { ids: [account], limit: 1 })).length > 0

/** Throws `KeysLost` when keys of accounts are missing whose texts are in the tables only. */
export const requireAccountKeys = async (reader: Reader): Promise<void> => {
  const lost = await find(reader, { limit: most })
  if (lost.length === 0) return
  const more = lost.length === most ? ' and possibly more' : ''
  throw new KeysLost(
    `the keys of accounts are missing in state.keys (${lost.join(', ')}${more}): restore the schema \`state\` from a backup, with the SECRET of its time. Until then their texts are in the read tables only: \`linkledger rebuild\` refuses to fill them without, unless --lost-keys gives the texts up`,
  )
}
