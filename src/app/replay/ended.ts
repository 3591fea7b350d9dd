import { aborted } from '../../lib/async/aborted.ts'
import type { Cleanup } from '../../lib/cleanup.ts'
import { OperatorError } from '../../lib/operatorerror.ts'
import type { Database } from '../../postgres/database.ts'
import { countErased } from '../../postgres/keys.ts'
import { repeat } from '../jobs/repeat.ts'
import type { Ledger } from '../log/ledger.ts'

/** ms between two looks for erasures */
const erasureInterval = 1000

/**
 * Returns a signal that aborts, with an error that says why, when a replay has to end: an account is erased, whose
 * texts its tables have and for which the clearing of files waits; or the connection is lost that keeps others from
 * dropping the tables.
 */
export const endOfReplay = async (
  { log }: Pick<Ledger, 'log'>,
  db: Database,
  lost: AbortSignal,
  cleanup: Cleanup,
): Promise<AbortSignal> => {
  const ended = new AbortController()
  const end = (why: string) => ended.abort(new OperatorError(why))
  void aborted(lost).then(() => end('the connection to PostgreSQL was lost: start the replay again'))
  const before = await countErased(db)
  const look = async () => {
    if ((await countErased(db)) > before)
      end('an account was erased meanwhile: start the replay again, without its texts')
  }
  cleanup.defer(
    repeat(look, erasureInterval, (err) => log.warn({ err }, 'accounts that were erased could not be looked for')),
  )
  return ended.signal
}
