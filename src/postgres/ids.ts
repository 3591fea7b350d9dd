import { everyKind, type ResourceKind, resourceKinds } from '../events/kinds.ts'
import { batch } from '../lib/async/batch.ts'
import { type Database, prepared } from './database.ts'

/** Returns the next id of one kind, greater than `past`. */
export type IdSequence = (past?: number) => Promise<number>

export const idSequences = (db: Database): Readonly<Record<ResourceKind, IdSequence>> =>
  everyKind(resourceKinds, (kind) => idSequence(db, kind))

/**
 * Ids from the sequence of a kind in the schema `state`. Ids that are requested while a query is under way share the
 * next one.
 */
export const idSequence = (db: Database, kind: ResourceKind): IdSequence => {
  const sequence = `state.${kind}_id`
  const sql = `select nextval('${sequence}') as id from generate_series(1, ?::int)`
  const next = batch(1000, async (requests: readonly void[]) => {
    const { rows } = await db.raw<{ rows: { id: string }[] }>(sql, [requests.length]).options(prepared(sql))
    return rows.map(({ id }) => Number(id))
  })
  return async (past) => {
    if (past !== undefined) await advanceSequence(db, kind, past)
    return next()
  }
}

/** Makes the sequence return only ids greater than `id` from now on. */
export const advanceSequence = async (db: Database, kind: ResourceKind, id: number) => {
  const sequence = `state.${kind}_id`
  await db.raw(`select setval('${sequence}', greatest(?, (select last_value from ${sequence})))`, [id])
}
