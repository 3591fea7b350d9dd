import type { Open } from '../../events/openenum.ts'
import type { Scope } from '../../events/accounts/scope.ts'
import { filtered, inOrder, type Listed, type ListRequest, readPositions } from '../page.ts'
import type { Reader } from '../reader.ts'

/** The stored half of an API key, and what its account is allowed. */
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
  /** requests per minute of the account, 0 = unlimited, null = that of the service */
  readonly rateLimit: number | null
}

/** Returns the keys with these ids, in the order of the ids. */
export const findKeys = async (
  { db, table }: Reader,
  ids: readonly string[],
): Promise<readonly (KeyRow | undefined)[]> => {
  const rows = (await db({ k: table('api_keys') })
    .join({ a: table('accounts') }, 'a.id', 'k.account')
    .whereRaw('k.key = any(?)', [[...ids]])
    .select('k.key', 'k.account', 'k.number', 'k.hash', 'k.scopes', 'k.expires', 'k.addresses', 'a.status', {
      rateLimit: 'a.rate_limit',
    })) as (KeyRow & { readonly key: string })[]
  const found = new Map(
    rows.map(({ key, ...row }): [string, KeyRow] => [
      key,
      { ...row, account: Number(row.account), number: Number(row.number) },
    ]),
  )
  return ids.map((id) => found.get(id))
}

/** An API key as its account sees it. */
export interface ListedKey extends Pick<KeyRow, 'number' | 'scopes' | 'expires' | 'addresses'> {
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
    .whereIn(
      'x.number',
      found.rows.map(([number]) => Number(number)),
    )
    .select('x.number', 'x.key', 'x.name', 'x.scopes', 'x.expires', 'x.addresses', 'x.issued', {
      used: 'u.used_at',
    })) as ListedKey[]
  return inOrder(
    found,
    rows.map((row) => ({ ...row, number: Number(row.number) })),
    ({ number }) => number,
  )
}
