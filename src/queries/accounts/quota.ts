import type { Reader } from '../reader.ts'
import { kinds, type OwnedKind, ownedKinds } from '../../events/kinds.ts'
import { deletedDomains } from '../domains/domain.ts'
import { countOwned } from '../owned.ts'

/** What an account has a quota of. Images are counted in bytes, everything else in resources that are not deleted. */
export const quotaKinds = [...ownedKinds, 'image'] as const
export type QuotaKind = (typeof quotaKinds)[number]

/** The counters of links are named otherwise than all others. */
const countedAs = (kind: OwnedKind) => (kind === 'link' ? 'link' : kinds[kind].table)

/** domains that an account can delete in 30 days before each counts: every process has deleted ones in memory */
const deletedFree = 100

/**
 * Returns how much of a quota an account uses. The tables have the number of its resources, so none is counted here but
 * domains that were deleted.
 */
export const findUsage = async (reader: Reader, account: number, kind: QuotaKind): Promise<number> => {
  if (kind === 'domain') {
    const deleted = await deletedDomains(reader, account)
    return (await countOwned(reader, countedAs(kind), account)) + Math.max(0, deleted - deletedFree)
  }
  if (kind !== 'image') return countOwned(reader, countedAs(kind), account)
  // the length of a large value is stored with it: no image is read
  const { rows } = await reader.db.raw<{ rows: { bytes: string }[] }>(
    'select coalesce(sum(octet_length(sealed)), 0) as bytes from state.images where account = ?',
    [account],
  )
  return Number(rows[0]?.bytes ?? 0)
}
