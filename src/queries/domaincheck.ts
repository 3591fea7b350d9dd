import type { Reader } from './reader.ts'

/** A branded domain whose DNS is due for a check. */
export interface DueDomain {
  readonly id: number
  readonly account: number
  /** origin, for example `https://go.example.com` */
  readonly domain: string
  /** failed checks in a row so far */
  readonly failures: number
}

/** Returns up to 100 domains that have not been checked for a day, and marks them as checked, so that no other process checks them too. */
export const claimDueDomains = async ({ db, table }: Reader): Promise<DueDomain[]> => {
  const { rows } = await db.raw<{ rows: { id: string; account: string; domain: string; failures: number }[] }>(
    `insert into state.domain_checks as c (domain, checked_at, failures)
     select d.id, now(), 0 from ${table('domains')} d
     where d.deleted is null and not exists (
       select 1 from state.domain_checks c where c.domain = d.id and c.checked_at > now() - interval '1 day')
     order by d.id limit 100
     on conflict (domain) do update set checked_at = now() where c.checked_at <= now() - interval '1 day'
     returning domain as id, failures,
       (select account from ${table('domains')} d where d.id = c.domain),
       (select d.domain from ${table('domains')} d where d.id = c.domain) as domain`,
  )
  return rows.map((row) => ({ ...row, id: Number(row.id), account: Number(row.account) }))
}

/** Stores how many checks of a domain have failed in a row. */
export const setFailures = async ({ db }: Reader, domain: number, failures: number) => {
  await db('state.domain_checks').where({ domain }).update({ failures })
}
