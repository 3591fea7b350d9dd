import type { ClassifierOptions } from '../../clicks/classify.ts'
import { type Elsewhere, openElsewhere } from '../../clicks/elsewhere.ts'
import { clicksKeptSince } from '../../queries/statistics/recorded.ts'
import type { Ledger } from '../log/ledger.ts'

/** Opens what records visits of other services in the log, takes them back, and knows the newest event of visits. */
export const openVisitsElsewhere = (
  { keys, reader, store }: Pick<Ledger, 'keys' | 'reader' | 'store'>,
  visitors: ClassifierOptions,
): Elsewhere & { readonly newest: () => Promise<bigint> } => ({
  ...openElsewhere({ store, keyring: keys, keptSince: () => clicksKeptSince(reader), ...visitors }),
  newest: () => store.head('clicks'),
})
