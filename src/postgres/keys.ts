import type { Knex } from 'knex'

/**
 * An advisory lock: keys are created under a share of it. They are destroyed, or all wrapped again, while no process
 * has one.
 */
const lock = 7275465

/** Waits until no process destroys or wraps keys, and keeps them from it until the transaction ends. */
export const shareKeys = (tx: Knex) => tx.raw('select pg_advisory_xact_lock_shared(?)', [lock])
/** Waits until no other process creates, destroys or wraps keys, and keeps them from it until the transaction ends. */
export const lockKeys = (tx: Knex) => tx.raw('select pg_advisory_xact_lock(?)', [lock])

/** Stores a key unless there is one, or it was destroyed before. The transaction shares the keys. */
export const insertKey = async (tx: Knex, name: string, wrapped: string): Promise<void> => {
  await tx.raw(
    `insert into state.keys (name, wrapped)
     select ?, ? where not exists (select from state.destroyed_keys where name = ?) on conflict (name) do nothing`,
    [name, wrapped, name],
  )
}

/** Returns which of these keys were destroyed. */
export const destroyedKeys = async (db: Knex, names: readonly string[]): Promise<readonly string[]> => {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    'select name from state.destroyed_keys where name = any(?)',
    [[...names]],
  )
  return rows.map(({ name }) => name)
}

/** Returns how many accounts have had their keys destroyed. */
export const countErased = async (db: Knex): Promise<number> => {
  const { rows } = await db.raw<{ rows: { n: number }[] }>(
    `select count(*)::int as n from state.destroyed_keys where name like 'account-%'`,
  )
  return rows[0]?.n ?? 0
}

/** Deletes keys for good. Repeating it costs one read. */
export const destroyKeys = async (db: Knex, names: readonly string[]): Promise<void> => {
  if (names.length === 0) return
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `select from unnest(?::text[]) as n (name)
     where not exists (select from state.destroyed_keys d where d.name = n.name) or exists (select from state.keys k where k.name = n.name) limit 1`,
    [[...names]],
  )
  if (rowCount === 0) return
  await db.transaction(async (tx) => {
    await lockKeys(tx)
    await tx.raw('insert into state.destroyed_keys (name) select unnest(?::text[]) on conflict do nothing', [
      [...names],
    ])
    await tx.raw('delete from state.keys where name = any(?)', [[...names]])
  })
}
