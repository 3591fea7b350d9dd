import type { Role } from '../../events/accounts/role.ts'
import { ownMember } from '../../events/accounts/team.ts'
import type { Open } from '../../events/openenum.ts'
import { filtered, inOrder, type Listed, type ListRequest, readPositions } from '../page.ts'
import type { Reader } from '../reader.ts'

/** What somebody is in an account that is not their own. */
export interface Membership {
  readonly number: number
  readonly role: Open<Role>
  /** ids of the domains that they may use, 0 for the service's own host; undefined: all */
  readonly domains?: readonly number[] | undefined
  /** of the account */
  readonly status: 'active' | 'disabled' | 'erased'
}

/** Returns what a person is in an account, undefined when they are no member. */
export const findMembership = async (
  { db, table }: Reader,
  account: number,
  person: number,
): Promise<Membership | undefined> => {
  const [row] = (await db({ m: table('members') })
    .join({ a: table('accounts') }, 'a.id', 'm.account')
    .where({ 'm.account': account, 'm.person': person, 'm.status': 'active' })
    .select('m.number', 'm.role', 'm.domains', 'a.status')) as Membership[]
  return row && { ...row, number: Number(row.number), domains: row.domains ?? undefined }
}

/** An account in which a person may act. */
export interface FoundMembership extends Pick<Membership, 'role'> {
  readonly account: number
  readonly name: string
  /** whether it is a team account */
  readonly team: boolean
  readonly erases: Date | null
}

/** Returns the accounts in which a person may act besides their own, by name; `all`: also those that are disabled. */
export const listMemberships = async (
  { db, table }: Reader,
  person: number,
  which: 'active' | 'all' = 'active',
): Promise<readonly FoundMembership[]> => {
  const rows = (await db({ m: table('members') })
    .join({ a: table('accounts') }, 'a.id', 'm.account')
    .where({ 'm.person': person, 'm.status': 'active' })
    .whereIn('a.status', which === 'all' ? ['active', 'disabled'] : ['active'])
    .orderBy(['a.username', 'a.id'])
    .select('m.account', 'm.role', 'a.team', 'a.erases', { name: 'a.username' })) as FoundMembership[]
  return rows.map((row) => ({ ...row, account: Number(row.account) }))
}

/** Returns the people to whom groups at the issuer have given a role somewhere. */
export const managedPeople = async ({ db, table }: Reader): Promise<readonly number[]> => {
  const rows = (await db({ m: table('members') })
    .join({ p: table('accounts') }, 'p.id', 'm.person')
    .where({ 'm.status': 'active', 'm.managed': true })
    .whereNot('p.status', 'erased')
    .distinct('p.id')) as { id: string }[]
  return rows.map(({ id }) => Number(id))
}

/** A member as the list has them; somebody who is invited has no name. */
export interface ListedMember extends Pick<Membership, 'number' | 'role'> {
  readonly domains: readonly number[] | null
  readonly status: 'active' | 'invited'
  /** whether the issuer manages the role */
  readonly managed: boolean
  readonly name: string | null
  readonly email: string | null
  readonly joined: Date
  readonly expires: Date | null
  /** when a session of theirs was used last, to about a minute */
  readonly used: Date | null
}

/** Returns one page of the members of an account, its own sign-in among them. */
export const listMembers = async (
  reader: Reader,
  account: number,
  request: ListRequest,
): Promise<Listed<ListedMember>> => {
  const { db, table } = reader
  const all = db.raw(
    `(select ${ownMember}::bigint as number, id as person, 'owner' as role, 'active' as status, registered as joined,
        null::timestamptz as expires, null::json as domains, false as managed, username, email
      from ${table('accounts')} where id = :account and not team
      union all
      select m.number, m.person, m.role, m.status, m.joined, m.expires, m.domains, m.managed, p.username, p.email
      from ${table('members')} m left join ${table('accounts')} p on p.id = m.person
      where m.account = :account and m.status in ('active', 'invited')) as x`,
    { account },
  )
  const own = () => db.from(all)
  const matching = () =>
    filtered(db, own(), request, {
      searched: `coalesce(x.username, '') || ' ' || coalesce(x.email, '')`,
      created: 'x.joined',
    })
  const found = await readPositions({ matching, position: ['x.number'] }, reader, request)
  const rows = (await own()
    .whereIn(
      'x.number',
      found.rows.map(([number]) => Number(number)),
    )
    .select('x.number', 'x.role', 'x.status', 'x.joined', 'x.expires', 'x.domains', 'x.managed', 'x.email', {
      name: 'x.username',
      used: db.raw('(select max(s.used_at) from state.sessions s where s.account = x.person)'),
    })) as ListedMember[]
  return inOrder(
    found,
    rows.map((row) => ({ ...row, number: Number(row.number) })),
    ({ number }) => number,
  )
}

/** A member as everybody in the account sees them, also one who has left; `name` null: erased. */
export type FoundMember = Pick<ListedMember, 'number' | 'role' | 'name' | 'joined'> & {
  readonly status: 'active' | 'removed'
}

/** Returns a member of an account by their number; undefined for one that nobody ever had. */
export const findMember = async (
  { db, table }: Reader,
  account: number,
  number: number,
): Promise<FoundMember | undefined> => {
  const [row] = (await (number === ownMember
    ? db({ a: table('accounts') })
        .where({ 'a.id': account, 'a.team': false })
        .select({ name: 'a.username', joined: 'a.registered', role: db.raw(`'owner'`), status: db.raw(`'active'`) })
    : db({ m: table('members') })
        .leftJoin({ p: table('accounts') }, 'p.id', 'm.person')
        .where({ 'm.account': account, 'm.number': number })
        .whereIn('m.status', ['active', 'removed'])
        .select('m.role', 'm.status', 'm.joined', { name: 'p.username' }))) as Omit<FoundMember, 'number'>[]
  return row && { ...row, number }
}

/** Names a member in a map. */
export const memberName = (account: number | null, number: number): string => `${account} ${number}`

/**
 * Returns the names of members by `memberName`, also of those who have left; somebody who is erased has none.
 */
export const namesOfMembers = async (
  reader: Reader,
  members: readonly { readonly account: number | null; readonly number: number }[],
): Promise<ReadonlyMap<string, string>> => {
  if (members.length === 0) return new Map()
  const { db, table } = reader
  const { rows } = await db.raw<{ rows: { account: string; number: string; username: string | null }[] }>(
    `select m.account, m.number, p.username from unnest(?::bigint[], ?::bigint[]) as n (account, number)
     join ${table('members')} m on m.account = n.account and m.number = n.number
     join ${table('accounts')} p on p.id = m.person`,
    [members.map(({ account }) => account ?? 0), members.map(({ number }) => number)],
  )
  return new Map(
    rows.flatMap(({ account, number, username }) =>
      username === null ? [] : [[memberName(Number(account), Number(number)), username]],
    ),
  )
}
