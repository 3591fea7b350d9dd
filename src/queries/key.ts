import type { Reader } from './reader.ts'

/** The stored half of an API key and the status of its account. */
export interface KeyRow {
  readonly account: number
  readonly hash: string
  readonly expires: Date | null
  readonly status: 'active' | 'disabled' | 'erased'
}

/** Returns the keys with these ids, in the order of the ids. */
export const findKeys = async (
  { db, table }: Reader,
  ids: readonly string[],
): Promise<readonly (KeyRow | undefined)[]> => {
  const rows = (await db({ k: table('api_keys') })
    .join({ a: table('accounts') }, 'a.id', 'k.account')
    .whereRaw('k.key = any(?)', [[...ids]])
    .select('k.key', 'k.account', 'k.hash', 'k.expires', 'a.status')) as (KeyRow & { readonly key: string })[]
  const found = new Map(
    rows.map(({ key, ...row }): [string, KeyRow] => [key, { ...row, account: Number(row.account) }]),
  )
  return ids.map((id) => found.get(id))
}
