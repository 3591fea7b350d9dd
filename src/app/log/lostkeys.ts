import type { EventStore } from '../../events/store.ts'
import { streamId } from '../../events/streams.ts'
import { OperatorError } from '../../lib/operatorerror.ts'
import { NotReady } from '../../lib/unavailable.ts'
import { lostKeys } from '../../queries/accounts/lostkeys.ts'
import type { Reader } from '../../queries/reader.ts'

/** Keys of accounts are missing, while the tables still have their texts. */
export class KeysLost extends OperatorError {
  override readonly name = 'KeysLost'
}

/** accounts that are named, and looked at */
const [most, mostLookedAt] = [10, 1000]

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

/**
 * Throws `KeysLost` when keys of accounts are missing whose texts are in the tables only. An account that the log does
 * not have never had a key: a row of it is wrong.
 */
export const requireAccountKeys = async (reader: Reader, store: Pick<EventStore, 'last'>): Promise<void> => {
  const lost: number[] = []
  for (const id of await find(reader, { limit: mostLookedAt }))
    if (lost.length < most && (await store.last(streamId('account', id)))) lost.push(id)
  if (lost.length === 0) return
  const more = lost.length === most ? ' and possibly more' : ''
  throw new KeysLost(
    `the keys of accounts are missing in state.keys (${lost.join(', ')}${more}): restore the schema \`state\` from a backup, with the SECRET of its time. Until then their texts are in the read tables only: \`linkledger rebuild\` refuses to fill them without, unless --lost-keys gives the texts up`,
  )
}
