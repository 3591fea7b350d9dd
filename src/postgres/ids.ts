import type { NextId } from '../commands/handle.ts'
import type { Database } from './database.ts'

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
  let waiting: { resolve: (id: number) => void; reject: (error: unknown) => void }[] = []
  let running = false

  const draw = async () => {
    running = true
    while (waiting.length > 0) {
      const taken = waiting
      waiting = []
      try {
        const { rows } = await db.raw<{ rows: { id: string }[] }>(
          'select nextval(?) as id from generate_series(1, ?)',
          [sequence, taken.length],
        )
        taken.forEach(({ resolve }, i) => resolve(Number(rows[i]?.id)))
      } catch (error) {
        taken.forEach(({ reject }) => reject(error))
      }
    }
    running = false
  }

  return async (past) => {
    if (past !== undefined) await atLeast(db, kind, past)
    return new Promise((resolve, reject) => {
      waiting.push({ resolve, reject })
      if (!running) void draw()
    })
  }
}

/** From now on the sequence gives ids greater than this one. */
export const atLeast = async (db: Database, kind: IdKind, id: number) => {
  const sequence = `state.${kind}_id`
  await db.raw(`select setval('${sequence}', greatest(?, (select last_value from ${sequence})))`, [id])
}
