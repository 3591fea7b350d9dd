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

/**
 * Ids that are left out where the log may have lost its end: what was created there has left traces outside, as visits
 * in a spool, receivers of webhooks and printed QR codes, and its ids must not become those of something else.
 */
export const lostIds = 1_000_000

/** Leaves out the ids that a lost end of the log may have given. */
export const leaveOutLostIds = async (db: Database): Promise<void> => {
  for (const kind of resourceKinds)
    await db.raw(`select setval('state.${kind}_id', last_value + ${lostIds}) from state.${kind}_id`)
}
