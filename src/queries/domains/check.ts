import type { Reader } from '../reader.ts'

/** Failed checks in a row, a day apart, after which a domain stops. */
export const maxFailures = 3

/** A branded domain that is due for its daily check. */
export interface DueDomain {
  readonly id: number
  readonly account: number
  /** origin, for example `https://go.example.com` */
  readonly domain: string
  readonly verified: boolean
  /** how it was verified */
  readonly proof: string
  /** failed checks in a row so far */
  readonly failures: number
}

/**
 * Returns up to `limit` domains that were verified once and have not been checked for a day, and marks them as checked,
 * so that no other process checks them too. First one of each account, beginning with the one that a check of its
 * domains was longest ago for; of an account, those that have waited longest.
 */
export const claimDueDomains = async ({ db, table }: Reader, limit: number): Promise<DueDomain[]> => {
  const { rows } = await db.raw<{ rows: (Omit<DueDomain, 'id' | 'account'> & { id: string; account: string })[] }>(
    `with served as (
       select d.account, max(c.checked_at) as at from ${table('domains')} d join state.domain_checks c on c.domain = d.id group by d.account
     ), due as (
       select d.id, d.account, row_number() over (partition by d.account order by c.checked_at nulls first, d.id) as turn
       from ${table('domains')} d join ${table('accounts')} a on a.id = d.account left join state.domain_checks c on c.domain = d.id
       where d.deleted is null and d.proof <> '' and a.status = 'active'
         and (c.checked_at is null or c.checked_at <= now() - interval '1 day')
     ), next as (
       select id from due left join served using (account) order by turn, at nulls first, account limit ?
     ), claimed as (
       insert into state.domain_checks as c (domain, checked_at, failures)
       select id, now(), 0 from next order by id
       on conflict (domain) do update set checked_at = now() where c.checked_at <= now() - interval '1 day'
       returning domain, failures)
     select d.id, d.account, d.domain, d.verified, d.proof, claimed.failures
     from claimed join ${table('domains')} d on d.id = claimed.domain order by d.id`,
    [limit],
  )
  return rows.map((row) => ({ ...row, id: Number(row.id), account: Number(row.account) }))
}

/** Stores the result of a check: what DNS said, and how many checks of the domain have failed in a row. */
export const saveCheck = async ({ db }: Reader, domain: number, failures: number, found: object) => {
  await db('state.domain_checks')
    .where({ domain })
    .update({ failures, looked_at: db.fn.now(), found: JSON.stringify(found) })
}

/** Deletes what DNS said about the domains of accounts. */
export const eraseChecks = async ({ db, table }: Pick<Reader, 'db' | 'table'>, accounts: readonly number[]) => {
  await db('state.domain_checks')
    .whereIn('domain', db(table('domains')).whereIn('account', accounts).select('id'))
    .delete()
}
