import type { NextId } from '../commands/handle.ts'
import type { Database } from './database.ts'
import { batch } from '../lib/batch.ts'

/** Kinds of resources; each has its sequence in `state`. */
export const idKinds = [
  'account',
  'bio',
  'campaign',
  'channel',
  'domain',
  'link',
  'overlay',
  'pixel',
  'qr',
  'splash',
] as const
export type IdKind = (typeof idKinds)[number]
export type NextIds = Readonly<Record<IdKind, NextId>>

export const allIds = (db: Database) => Object.fromEntries(idKinds.map((kind) => [kind, ids(db, kind)])) as NextIds

/** Ids from a sequence in `state`. Those asked for while a draw is under way are drawn together. */
export const ids = (db: Database, kind: IdKind): NextId => {
  const sequence = `state.${kind}_id`
  const next = batch(1000, async (asked: readonly void[]) => {
    const { rows } = await db.raw<{ rows: { id: string }[] }>('select nextval(?) as id from generate_series(1, ?)', [
      sequence,
      asked.length,
    ])
    return rows.map(({ id }) => Number(id))
  })
  return async (past) => {
    if (past !== undefined) await atLeast(db, kind, past)
    return next()
  }
}

/** From now on the sequence gives ids greater than this one. */
export const atLeast = async (db: Database, kind: IdKind, id: number) => {
  const sequence = `state.${kind}_id`
  await db.raw(`select setval('${sequence}', greatest(?, (select last_value from ${sequence})))`, [id])
}
