import type { Knex } from 'knex'

/** An advisory lock: keys are created under a share of it, and destroyed while nobody has one. */
const lock = 7275465

/** Stores a key unless there is one, or it was destroyed before. `tx` is a transaction of its own. */
export const insertKey = async (tx: Knex, name: string, wrapped: string): Promise<void> => {
  await tx.raw('select pg_advisory_xact_lock_shared(?)', [lock])
  await tx.raw(
    `insert into state.keys (name, wrapped)
     select ?, ? where not exists (select from state.destroyed_keys where name = ?) on conflict (name) do nothing`,
    [name, wrapped, name],
  )
}

/** Deletes keys for good. Repeating it costs one read. */
export const destroyKeys = async (db: Knex, names: readonly string[]): Promise<void> => {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `select from unnest(?::text[]) as n (name)
     where not exists (select from state.destroyed_keys d where d.name = n.name) or exists (select from state.keys k where k.name = n.name) limit 1`,
    [[...names]],
  )
  if (rowCount === 0) return
  await db.transaction(async (tx) => {
    await tx.raw('select pg_advisory_xact_lock(?)', [lock])
    await tx.raw('insert into state.destroyed_keys (name) select unnest(?::text[]) on conflict do nothing', [
      [...names],
    ])
    await tx.raw('delete from state.keys where name = any(?)', [[...names]])
  })
}
