import type { DomainFields } from '../events/domain.ts'
import { listOwned, type OwnedRow } from './owned.ts'
import type { Page } from './page.ts'
import type { Reader } from './reader.ts'

export type DomainRow = OwnedRow & DomainFields & { readonly verified: boolean }
export const listDomains = (reader: Reader, account: number, page: Page) =>
  listOwned<DomainRow>(reader, 'domains', account, page)

/** A branded domain as every process caches it. Includes deleted ones, because their links are still listed under them. */
export interface KnownDomain extends DomainFields {
  readonly id: number
  readonly account: number
  /** not deleted, and its DNS points to this service */
  readonly live: boolean
  /** of its last change in the log */
  readonly position: bigint
}

/** Returns the domains that changed after one position of the log and up to another; from 0n on, all of them. */
export const domainsChanged = async ({ db, table }: Reader, after: bigint, upTo?: bigint): Promise<KnownDomain[]> => {
  const changed = db(table('domains')).where('position', '>', after.toString())
  if (upTo !== undefined) void changed.where('position', '<=', upTo.toString())
  const rows = (await changed.select(
    'id',
    'account',
    'domain',
    'redirectroot',
    'redirect404',
    'position',
    db.raw('deleted is null and verified as live'),
  )) as KnownDomain[]
  return rows.map((row) => ({
    ...row,
    id: Number(row.id),
    account: Number(row.account),
    position: BigInt(row.position),
  }))
}
