import type { Reader } from './reader.ts'

/** The stored half of an API key and the status of its account. */
export interface KeyRow {
  readonly account: number
  readonly hash: string
  readonly expires: Date | null
  readonly status: 'active' | 'disabled' | 'erased'
}

export const findKey = async ({ db, table }: Reader, key: string): Promise<KeyRow | undefined> => {
  const [row] = await db<KeyRow>({ k: table('api_keys') })
    .join({ a: table('accounts') }, 'a.id', 'k.account')
    .where({ 'k.key': key })
    .select('k.account', 'k.hash', 'k.expires', 'a.status')
  return row && { ...row, account: Number(row.account) }
}
