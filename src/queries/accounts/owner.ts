import type { TableNames } from '../../projections/engine/projection.ts'
import type { Reader } from '../reader.ts'

/**
 * SQL that is true if a team account, of which `m` is a member, has an owner besides them who can sign in, as a team
 * account cannot, and is not about to be erased.
 */
const hasOther = (table: TableNames) => `exists (
  select from ${table('members')} o join ${table('accounts')} p on p.id = o.person
  where o.account = m.account and o.number <> m.number and o.status = 'active' and o.role = 'owner'
    and p.status = 'active' and p.erases is null and not p.team
    and not exists (select from ${table('deactivated')} d where d.account = o.person))`

/** SQL that is true if the account `a` signs in the last owner of a team account. */
export const ownsTeamAlone = (table: TableNames): string => `exists (
  select from ${table('members')} m join ${table('accounts')} t on t.id = m.account
  where m.person = a.id and m.status = 'active' and m.role = 'owner' and t.team and t.status <> 'erased'
    and not ${hasOther(table)})`

/** Returns the people whom groups at the issuer have made owners of team accounts that have another one who can act. */
export const managedOwners = async ({ db, table }: Reader): Promise<readonly number[]> => {
  const { rows } = await db.raw<{ rows: { person: string }[] }>(
    `select distinct m.person from ${table('members')} m join ${table('accounts')} t on t.id = m.account
     where m.status = 'active' and m.role = 'owner' and m.managed and t.team and t.status <> 'erased'
       and ${hasOther(table)} order by 1`,
  )
  return rows.map(({ person }) => Number(person))
}

/** Returns the team accounts whose last owner a person is, by the number of their own account. */
export const teamsOwnedAlone = async ({ db, table }: Reader, person: number): Promise<readonly number[]> => {
  const { rows } = await db.raw<{ rows: { account: string }[] }>(
    `select m.account from ${table('members')} m join ${table('accounts')} t on t.id = m.account
     where m.person = ? and m.status = 'active' and m.role = 'owner' and t.team and t.status <> 'erased'
       and not ${hasOther(table)} order by 1`,
    [person],
  )
  return rows.map(({ account }) => Number(account))
}
