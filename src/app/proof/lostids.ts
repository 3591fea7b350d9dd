import { leaveOutLostIds } from '../../postgres/ids.ts'
import { ProofKeyLost } from '../../security/keyring.ts'
import type { Ledger } from '../log/ledger.ts'
import { openCounter } from './counter.ts'

type Ids = Pick<Ledger, 'db' | 'log'>

/** Leaves out the ids that lost events may have, when the log goes back while this process runs. */
export const leaveOutIds = ({ db, log }: Ids): Promise<void> =>
  leaveOutLostIds(db).catch((error: unknown) => log.error({ err: error }, 'ids of what is lost may be given again'))

/** Leaves out ids that were given before the database was put back to an older state. */
export const leaveOutIdsOfLost = async (ledger: Ids & Pick<Ledger, 'config' | 'keys' | 'store'>): Promise<void> => {
  try {
    if (!(await (await openCounter(ledger)).isAhead(ledger.db))) return
  } catch (error) {
    if (error instanceof ProofKeyLost) return
    throw error
  }
  ledger.log.warn(
    'the log has lost events since this service last ran: the next million ids are not given, since those events may have them',
  )
  await leaveOutLostIds(ledger.db)
}
