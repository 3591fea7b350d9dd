import type { DomainFields } from '../events/domain.ts'
import { listOwned, type OwnedRow } from './owned.ts'
import type { Page } from './page.ts'
import type { Reader } from './reader.ts'

export type DomainRow = OwnedRow & DomainFields & { readonly verified: boolean }
export const listDomains = (reader: Reader, account: number, page: Page) =>
  listOwned<DomainRow>(reader, 'domains', account, page)

/** What every process knows of a branded domain, deleted ones too: their links are still listed under them. */
export interface KnownDomain extends DomainFields {
  readonly id: number
  readonly account: number
  /** it has not been deleted, and DNS leads to us */
  readonly live: boolean
  /** in the log, of its last change */
  readonly position: bigint
}

/** Domains that changed between two positions of the log; all of them from 0 on. */
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
