import type { Open } from '../../events/openenum.ts'
import type { Role } from '../../events/accounts/role.ts'
import { ownMember } from '../../events/accounts/team.ts'
import type { Scope } from '../../events/accounts/scope.ts'
import { filtered, inOrder, type Listed, type ListRequest, readPositions } from '../page.ts'
import type { Reader } from '../reader.ts'

/** The stored half of an API key, and the limits of its account. */
export interface KeyRow {
  readonly account: number
  /** the key's id within its account */
  readonly number: number
  readonly hash: string
  readonly scopes: readonly Open<Scope>[]
  readonly expires: Date | null
  /** the networks that the key may be used from, separated by spaces; null: any */
  readonly addresses: string | null
  readonly status: 'active' | 'disabled' | 'erased'
  /** requests per minute of the account, 0 = unlimited, null = the service's default */
  readonly rateLimit: number | null
  /** the member who created it; null: the account's own sign-in */
  readonly member: number | null
  /** their current role; null: they are no longer a member, or their own account does not work */
  readonly role: Open<Role> | null
  /** ids of the domains that they may use; null: all */
  readonly domains: readonly number[] | null
  /** the account that they sign in to */
  readonly person: number | null
}

/** SQL of the current holder of a key: its creator, or the member who took it over from a removed one. */
const holderOf = ({ table }: Pick<Reader, 'table'>, key: string) => `left join lateral (
  with recursive heirs (number, depth) as (
    select ${key}.member, 0
    union all
    select m.heir, h.depth + 1 from heirs h join ${table('members')} m on m.account = ${key}.account and m.number = h.number
    where m.heir is not null)
  select number from heirs order by depth desc limit 1) h on true`
/**
 * SQL of the holder's role, null while they may not sign in to their own account. The account's own sign-in has no row.
 */
const roleOfHolder = `case when h.number = ${ownMember} then 'owner'
  when m.status = 'active' and p.status = 'active' and dp.account is null then m.role end`

/** Returns the keys with these ids, in the order of the ids. */
export const findKeys = async (
  { db, table }: Reader,
  ids: readonly string[],
): Promise<readonly (KeyRow | undefined)[]> => {
  const rows = (await db({ k: table('api_keys') })
    .join({ a: table('accounts') }, 'a.id', 'k.account')
    .joinRaw(holderOf({ table }, 'k'))
    .leftJoin({ m: table('members') }, (on) => void on.on('m.account', 'k.account').on('m.number', 'h.number'))
    .leftJoin({ p: table('accounts') }, 'p.id', 'm.person')
    .leftJoin({ dp: table('deactivated') }, 'dp.account', 'm.person')
    .leftJoin({ da: table('deactivated') }, 'da.account', 'k.account')
    .whereRaw('k.key = any(?)', [[...ids]])
    .select('k.key', 'k.account', 'k.number', 'k.hash', 'k.scopes', 'k.expires', 'k.addresses', 'm.domains', {
      // other members' keys still work while the account's own sign-in does not
      status: db.raw(
        `case when a.status = 'active' and coalesce(h.number, ${ownMember}) = ${ownMember} and da.account is not null then 'disabled' else a.status end`,
      ),
      rateLimit: 'a.rate_limit',
      member: 'h.number',
      person: db.raw(`case when h.number = ${ownMember} then k.account else m.person end`),
      role: db.raw(roleOfHolder),
    })) as (KeyRow & { readonly key: string })[]
  const found = new Map(
    rows.map(({ key, ...row }): [string, KeyRow] => [
      key,
      {
        ...row,
        account: Number(row.account),
        number: Number(row.number),
        member: row.member === null ? null : Number(row.member),
        person: row.person === null ? null : Number(row.person),
      },
    ]),
  )
  return ids.map((id) => found.get(id))
}

/** An API key in the list of its account. */
export interface ListedKey extends Pick<KeyRow, 'number' | 'scopes' | 'expires' | 'addresses' | 'member' | 'role'> {
  /** name of the member who created it; null: the account's own sign-in, or an erased person */
  readonly maker: string | null
  /** the public id */
  readonly key: string
  readonly name: string
  readonly issued: Date
  readonly used: Date | null
}

/** Returns one page of the API keys of an account. */
export const listKeys = async (reader: Reader, account: number, request: ListRequest): Promise<Listed<ListedKey>> => {
  const { db, table } = reader
  const own = () => db({ x: table('api_keys') }).where({ 'x.account': account })
  const matching = () => filtered(db, own(), request, { searched: 'x.name', created: 'x.issued' })
  const found = await readPositions({ matching, position: ['x.number'] }, reader, request)
  const rows = (await own()
    .leftJoin({ u: 'state.key_uses' }, 'u.key', 'x.key')
    .joinRaw(holderOf(reader, 'x'))
    .leftJoin({ m: table('members') }, (on) => void on.on('m.account', 'x.account').on('m.number', 'h.number'))
    .leftJoin(
      { p: table('accounts') },
      (on) => void on.on('p.id', db.raw(`case when h.number = ${ownMember} then x.account else m.person end`)),
    )
    .leftJoin({ dp: table('deactivated') }, 'dp.account', 'm.person')
    .whereIn(
      'x.number',
      found.rows.map(([number]) => Number(number)),
    )
    .select('x.number', 'x.key', 'x.name', 'x.scopes', 'x.expires', 'x.addresses', 'x.issued', {
      used: 'u.used_at',
      member: 'h.number',
      maker: 'p.username',
      role: db.raw(roleOfHolder),
    })) as ListedKey[]
  return inOrder(
    found,
    rows.map((row) => ({
      ...row,
      number: Number(row.number),
      member: row.member === null ? null : Number(row.member),
    })),
    ({ number }) => number,
  )
}
