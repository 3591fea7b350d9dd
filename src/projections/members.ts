import type { Knex } from 'knex'
import type { EventStore } from '../events/store.ts'
import type { Projection } from './projection.ts'
import { type Checkpoint, checkpoints } from './tables.ts'

/** A projection and the generation of its tables that is being filled. */
export interface Member {
  readonly projection: Projection
  readonly checkpoint: Checkpoint
}

/** The tables were filled from another log, or from a longer one. */
export class WrongLog extends Error {
  override readonly name = 'WrongLog'
}

/** Returns the projections that have live tables, each with its newest generation. Throws `WrongLog`. */
export const loadMembers = async (
  db: Knex,
  store: Pick<EventStore, 'logId' | 'idAt'>,
  projections: readonly Projection[],
): Promise<Member[]> => {
  const rows = await db<Checkpoint>(checkpoints).where({ live: true })
  const members = projections.flatMap((projection) => {
    const own = rows.filter((row) => row.projection === projection.name && row.version === projection.version)
    const newest = own.toSorted((a, b) => b.generation - a.generation)[0]
    return newest ? [{ projection, checkpoint: newest }] : []
  })
  for (const { checkpoint } of members) {
    const problem = await differenceFromLog(store, checkpoint)
    if (problem)
      throw new WrongLog(
        `the tables of ${checkpoint.projection} ${problem}; run \`linkledger rebuild\` to fill new ones`,
      )
  }
  return members
}

const differenceFromLog = async (
  store: Pick<EventStore, 'logId' | 'idAt'>,
  { log_id, position, event_id }: Checkpoint,
): Promise<string | undefined> => {
  if (log_id !== store.logId) return `were filled from the log ${log_id}, but this log is ${store.logId}`
  if (event_id === null || (await store.idAt(BigInt(position))) === event_id) return undefined
  return `were filled up to position ${position}, where this log has a different event or none (was it restored from an older backup?)`
}
