import type { Role } from '../../events/accounts/role.ts'
import { ownMember } from '../../events/accounts/team.ts'
import type { Open } from '../../events/openenum.ts'
import { filtered, inOrder, type Listed, type ListRequest, readPositions } from '../page.ts'
import type { Reader } from '../reader.ts'

/** The role of a person in an account other than their own. */
export interface Membership {
  readonly number: number
  readonly role: Open<Role>
  /** ids of the domains that they may use, 0 for the service's own host; undefined: all */
  readonly domains?: readonly number[] | undefined
  /** of the account */
  readonly status: 'active' | 'disabled' | 'erased'
}

/** Returns the membership of a person in an account, or undefined. */
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

/** Returns the accounts other than their own in which a person may act, by name; `all`: also disabled ones. */
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

/** Returns the people with a role that groups at the issuer have given. */
export const managedPeople = async ({ db, table }: Reader): Promise<readonly number[]> => {
  const rows = (await db({ m: table('members') })
    .join({ p: table('accounts') }, 'p.id', 'm.person')
    .where({ 'm.status': 'active', 'm.managed': true })
    .whereNot('p.status', 'erased')
    .distinct('p.id')) as { id: string }[]
  return rows.map(({ id }) => Number(id))
}

/** A member in the list; an open invitation has no name. */
export interface ListedMember extends Pick<Membership, 'number' | 'role'> {
  readonly domains: readonly number[] | null
  readonly status: 'active' | 'invited'
  /** whether the issuer manages the role */
  readonly managed: boolean
  readonly name: string | null
  readonly email: string | null
  readonly joined: Date
  readonly expires: Date | null
  /** last use of one of their sessions, to about a minute */
  readonly used: Date | null
}

/** Returns one page of the members of an account, including its own sign-in. */
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

/** A member as the whole account sees them, also a former one; `name` null: erased. */
export type FoundMember = Pick<ListedMember, 'number' | 'role' | 'name' | 'joined'> & {
  readonly status: 'active' | 'removed'
}

/** Returns a member of an account by their number; undefined when the number was never used. */
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

/** Returns the key of a member in a map. */
export const memberName = (account: number | null, number: number): string => `${account} ${number}`

/** Returns the names of current and former members by `memberName`; an erased person has none. */
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
