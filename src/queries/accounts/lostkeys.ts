import type { Reader } from '../reader.ts'

/**
 * Returns accounts whose key is missing, up to `limit`, and which the tables still show with their texts: those can be
 * read nowhere else, and new tables would not have them. Without `ids`, all are looked at.
 */
export const lostKeys = async (
  { db, table }: Reader,
  { ids, limit }: { readonly ids?: readonly number[]; readonly limit: number },
): Promise<readonly number[]> => {
  const name = `'account-' || a.id`
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `select id from ${table('accounts')} a where status <> 'erased' and email is not null
       ${ids ? 'and id = any(?::bigint[])' : ''}
       and not exists (select from state.keys where name = ${name})
       and not exists (select from state.destroyed_keys where name = ${name})
     order by id limit ?`,
    [...(ids ? [ids.map(String)] : []), limit],
  )
  return rows.map(({ id }) => Number(id))
}
