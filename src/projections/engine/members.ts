import type { Knex } from 'knex'
import type { EventStore } from '../../events/store.ts'
import { loadParked } from './parked.ts'
import type { Projection } from './projection.ts'
import { type Checkpoint, checkpoints } from './tables.ts'

/** A projection and the generation of its tables that is being filled. */
export interface Member {
  readonly projection: Projection
  readonly checkpoint: Checkpoint
  /** ids of the events that it skips */
  readonly parked: ReadonlySet<string>
}

/** The tables were filled from another log, or from a longer one. */
export class WrongLog extends Error {
  override readonly name = 'WrongLog'
  readonly position: bigint
  readonly event = undefined
  constructor({ projection, position }: Checkpoint, problem: string) {
    super(`the tables of ${projection} ${problem}; run \`linkledger rebuild\` to fill new ones`)
    this.position = BigInt(position)
  }
}

/** Returns the newest live generation of each projection that has one. */
export const loadLive = async (db: Knex, projections: readonly Projection[]) => {
  const rows = await db<Checkpoint>(checkpoints).where({ live: true })
  return projections.flatMap((projection) => {
    const own = rows.filter((row) => row.projection === projection.name && row.version === projection.version)
    const newest = own.toSorted((a, b) => b.generation - a.generation)[0]
    return newest ? [{ projection, checkpoint: newest }] : []
  })
}

/**
 * Returns the projections that have live tables, each with its newest generation. Calls `onWrong` for tables that do
 * not fit the log, and leaves them out.
 */
export const loadMembers = async (
  db: Knex,
  store: Pick<EventStore, 'logId' | 'idAt' | 'read'>,
  projections: readonly Projection[],
  onWrong: (member: Member, problem: WrongLog) => Promise<void> | void = (_, problem) => {
    throw problem
  },
): Promise<Member[]> => {
  const members: Member[] = []
  for (const { member, problem } of await compareWithLog(store, await loadLive(db, projections))) {
    if (problem) await onWrong(member, new WrongLog(member.checkpoint, problem))
    else members.push(member)
  }
  return members
}

/** Most tables are at the same position, and the reads of the parked events share a query. */
const compareWithLog = (
  store: Pick<EventStore, 'logId' | 'idAt' | 'read'>,
  live: readonly Pick<Member, 'projection' | 'checkpoint'>[],
) => {
  const ids = new Map<bigint, Promise<string | undefined>>()
  const idAt = (position: bigint) => {
    const id = ids.get(position) ?? store.idAt(position)
    ids.set(position, id)
    return id
  }
  return Promise.all(
    live.map(async ({ projection, checkpoint }) => {
      const [parked, problem] = await Promise.all([
        loadParked(store, projection.name),
        differenceFromLog({ logId: store.logId, idAt }, checkpoint),
      ])
      return { member: { projection, checkpoint, parked }, problem }
    }),
  )
}

const differenceFromLog = async (
  store: Pick<EventStore, 'logId' | 'idAt'>,
  { log_id, position, event_id }: Checkpoint,
): Promise<string | undefined> => {
  if (log_id !== store.logId) return `were filled from the log ${log_id}, but this log is ${store.logId}`
  if (event_id === null || (await store.idAt(BigInt(position))) === event_id) return undefined
  return `were filled up to position ${position}, where this log has a different event or none (was it restored from an older backup?)`
}
