import { hasOtherRules } from '../../queries/statistics/otherrules.ts'
import type { Reader } from '../../queries/reader.ts'
import { rulesVersion } from '../../clicks/visitor/agent.ts'
import type { Ledger } from '../log/ledger.ts'

/**
 * Says that recorded visits have classes by other rules for bots than those of this release, until a reclassification
 * has applied these.
 */
export const reportRules = async (
  { log, tables }: Pick<Ledger, 'log' | 'tables'>,
  reader: Reader,
  version = rulesVersion,
): Promise<void> => {
  // tables that are filled for the first time say nothing yet
  if (!tables.complete() || !(await hasOtherRules(reader, version))) return
  log.info(
    { rules: version },
    'recorded visits have their classes by other rules for bots: `linkledger reclassify --dry-run` says what the rules of this release would change',
  )
}
