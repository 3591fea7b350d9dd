import { type DomainFields, noApps } from '../../events/domains/domain.ts'
import { listOwned, type OwnedRow, typed } from '../owned.ts'
import type { Listed, ListRequest } from '../page.ts'
import { idOrNull, type Reader } from '../reader.ts'

export interface DomainRow extends OwnedRow, DomainFields {
  readonly verified: boolean
  /** whether its links have exact aliases; null: not */
  readonly exact: boolean | null
  /** how it was verified, the last time; empty: never */
  readonly proof: string
  /** when the host of a domain that has lost its verification is available to other accounts */
  readonly free: Date | null
  /** daily checks in a row that it has failed */
  readonly failures: number
  readonly lookedAt: Date | null
  /** what DNS said then; its shape is that of `DomainLook` */
  readonly found: unknown
}

/** A row of the list has no apps: those of a thousand domains have a hundred megabytes. */
export type ListedDomain = Omit<DomainRow, 'apple' | 'android'>

const listed = 'id domain redirectroot redirect404 exact verified proof free created revision'.split(' ')
const ownDomains = ({ db, table }: Reader, account: number, columns: readonly string[]) =>
  db({ d: table('domains') })
    .leftJoin({ c: 'state.domain_checks' }, 'c.domain', 'd.id')
    .where({ 'd.account': account, 'd.deleted': null })
    .select(
      ...columns.map((name) => `d.${name}`),
      db.raw('coalesce(c.failures, 0) as failures'),
      'c.looked_at as lookedAt',
      'c.found',
    )

export const listDomains = (reader: Reader, account: number, request: ListRequest): Promise<Listed<ListedDomain>> =>
  listOwned<ListedDomain>(reader, { kind: 'domain', searched: 'x.domain' }, account, request, (ids) =>
    ownDomains(reader, account, listed).whereIn('d.id', ids),
  )

export const findDomain = async (reader: Reader, account: number, id: number): Promise<DomainRow | undefined> => {
  const columns = [...listed, 'apple', 'android']
  const [row] = (await ownDomains(reader, account, columns).where({ 'd.id': id })) as DomainRow[]
  return row && typed(row)
}

/** Returns the apps that open addresses of a domain. */
export const findApps = async (
  { db, table }: Pick<Reader, 'db' | 'table'>,
  id: number,
): Promise<Pick<DomainFields, 'apple' | 'android'>> => {
  const [row] = (await db(table('domains')).where({ id }).select('apple', 'android')) as DomainFields[]
  return row ?? noApps
}

/** Returns the number of branded domains that an account has deleted within the last 30 days, and not added again. */
export const deletedDomains = async ({ db, table }: Reader, account: number): Promise<number> => {
  const [row] = await db(table('domains'))
    .where({ account })
    .whereRaw(`deleted > now() - interval '30 days'`)
    .count({ n: '*' })
  return Number(row?.['n'] ?? 0)
}

/** Returns what DNS said about a domain, also one that is not in the tables yet. */
export const findLook = async (
  { db }: Pick<Reader, 'db'>,
  domain: number,
): Promise<Pick<DomainRow, 'lookedAt' | 'found'>> => {
  const [row] = (await db('state.domain_checks')
    .where({ domain })
    .select('looked_at as lookedAt', 'found')) as DomainRow[]
  return row ?? { lookedAt: null, found: null }
}

/** Stores what DNS said about a domain. The daily check of the domain is due as before. */
export const saveLook = async ({ db }: Pick<Reader, 'db'>, domain: number, found: object) => {
  await db('state.domain_checks')
    .insert({ domain, checked_at: db.fn.now(), failures: 0, looked_at: db.fn.now(), found: JSON.stringify(found) })
    .onConflict('domain')
    .merge(['looked_at', 'found'])
}

/**
 * A branded domain as every process caches it. Includes deleted ones, because their links are still listed under them.
 * All are in memory, so the large fields are left out: its apps always, and where it leads while it does not serve.
 */
export interface KnownDomain extends Omit<DomainFields, 'apple' | 'android'> {
  readonly id: number
  readonly account: number
  /** verified, not deleted, and of an active account */
  readonly live: boolean
  readonly deleted: boolean
  /** whether its links have exact aliases */
  readonly exact: boolean
  /** of the last change of the domain or its account in the log */
  readonly position: bigint
}

const live = `(d.deleted is null and d.verified and coalesce(a.status = 'active', false))`

/**
 * Returns the domains that changed, or whose account did, after one position of the log and up to another; from 0n on,
 * all of them.
 */
export const domainsChanged = async ({ db, table }: Reader, after: bigint, upTo?: bigint): Promise<KnownDomain[]> => {
  const until = upTo === undefined ? '' : `and position <= ${upTo}`
  const rows = (await db({ d: table('domains') })
    .leftJoin({ a: table('accounts') }, 'a.id', 'd.account')
    .whereRaw(
      after === 0n && upTo === undefined
        ? 'true'
        : `d.id in (
             select id from ${table('domains')} where position > ${after} ${until}
             union all
             select x.id from ${table('accounts')} y join ${table('domains')} x on x.account = y.id
             where y.position > ${after} ${until.replace('position', 'y.position')})`,
    )
    .select(
      'd.id',
      'd.account',
      'd.domain',
      db.raw(`case when ${live} then d.redirectroot else '' end as redirectroot`),
      db.raw(`case when ${live} then d.redirect404 else '' end as redirect404`),
      db.raw('greatest(d.position, a.position) as position'),
      db.raw('d.deleted is not null as deleted'),
      db.raw('coalesce(d.exact, false) as exact'),
      db.raw(`${live} as live`),
    )) as KnownDomain[]
  return rows.map((row) => ({
    ...row,
    id: Number(row.id),
    account: Number(row.account),
    position: BigInt(row.position),
  }))
}

/** A branded domain as the operator sees it. */
export interface OperatorDomain {
  readonly id: number
  readonly account: number
  readonly username: string | null
  readonly accountStatus: string
  readonly domain: string
  readonly verified: boolean
  readonly proof: string
  readonly deleted: Date | null
  readonly free: Date | null
  readonly failures: number
}

/**
 * Returns all domains that have or may get their host, in the order of the hosts. Deleted ones are included while their
 * host is reserved.
 */
export const allDomains = async (reader: Reader, id?: number): Promise<readonly OperatorDomain[]> => {
  const { db, table } = reader
  const rows = (await db({ d: table('domains') })
    .leftJoin({ a: table('accounts') }, 'a.id', 'd.account')
    .leftJoin({ c: 'state.domain_checks' }, 'c.domain', 'd.id')
    .where(id === undefined ? {} : { 'd.id': id })
    .whereRaw(`(d.deleted is null or d.proof <> '' and d.free > now())`)
    .orderByRaw(`split_part(d.domain, '://', 2), d.id`)
    .select(
      ...'id account domain verified proof deleted free'.split(' ').map((name) => `d.${name}`),
      'a.username',
      db.raw(`coalesce(a.status, 'active') as "accountStatus"`),
      db.raw('coalesce(c.failures, 0) as failures'),
    )) as (Omit<OperatorDomain, 'id' | 'account'> & { id: string; account: string })[]
  return rows.map((row) => ({ ...row, id: Number(row.id), account: idOrNull(row.account) ?? 0 }))
}
