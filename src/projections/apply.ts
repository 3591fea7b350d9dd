import type { Knex } from 'knex'
import type { Recorded } from '../events/event.ts'
import type { DomainEvent } from '../events/index.ts'
import { changesOf, type Change, type Projection, writeChanges } from './projection.ts'
import { type Checkpoint, checkpoints, tableNames } from './tables.ts'

/** A projection and the generation of its tables that a loop fills. */
export interface Member {
  readonly projection: Projection
  readonly checkpoint: Checkpoint
}

/** The checkpoint is not where this loop left it: another projector works, or other tables are read now. */
export class Overtaken extends Error {}

/** An event that a projection cannot take. The subscription halts there: nothing is skipped. */
export class Poison extends Error {
  readonly position: bigint
  constructor(event: Recorded<DomainEvent>, projection: string, cause: unknown) {
    super(
      `${projection} cannot take event ${event.position} (${event.type}, ${event.stream}@${event.revision}): ${String(cause)}`,
      { cause },
    )
    this.position = event.position
  }
}

const handles = ({ projection }: Member, { type }: Recorded<DomainEvent>) =>
  !('on' in projection) || type in projection.on
const isDataError = (error: unknown) => /^(22|23)/.test((error as { code?: string }).code ?? '')

/** Moves the checkpoint from where it was, as the transaction's first statement: of two projectors one fails here. */
const advance = async (tx: Knex, { checkpoint }: Member, to: Recorded<DomainEvent>): Promise<Checkpoint> => {
  const { projection, version, generation, position, live } = checkpoint
  const next = { position: to.position.toString(), event_id: to.id }
  const moved = await tx(checkpoints).where({ projection, version, generation, position, live }).update(next)
  if (moved !== 1) throw new Overtaken(`${projection} ${version}/${generation} is no longer at ${position}`)
  return { ...checkpoint, ...next }
}

const changes = (projection: Projection, events: readonly Recorded<DomainEvent>[]): Change[] => {
  if (!('on' in projection)) return []
  return events.flatMap((event) => {
    try {
      return changesOf(projection, event)
    } catch (error) {
      throw new Poison(event, projection.name, error)
    }
  })
}

const writeOne = async (tx: Knex, member: Member, events: readonly Recorded<DomainEvent>[]): Promise<Member> => {
  const { projection, checkpoint } = member
  const fresh = events.filter((event) => event.position > BigInt(checkpoint.position) && handles(member, event))
  const last = fresh.at(-1)
  if (!last) return member
  const all = changes(projection, fresh)
  const next = await advance(tx, member, last)
  const names = tableNames(projection, checkpoint.generation)
  try {
    await ('on' in projection ? writeChanges(tx, names, all) : projection.write(tx, names, fresh))
  } catch (error) {
    if (isDataError(error) && fresh.length === 1) throw new Poison(last, projection.name, error)
    throw error
  }
  return { projection, checkpoint: next }
}

/**
 * One batch, one transaction: checkpoints, rows, and `told` inside it. When an event is poison, what stands before it is applied,
 * and `Poison` is thrown. Throws `Overtaken`.
 */
export const applyBatch = async (
  db: Knex,
  members: readonly Member[],
  events: readonly Recorded<DomainEvent>[],
  told: (tx: Knex, position: bigint) => Promise<unknown>,
): Promise<readonly Member[]> => {
  const upTo = (n: number) => applyBatch(db, members, events.slice(0, n), told)
  try {
    return await db.transaction(async (tx) => {
      const moved: Member[] = []
      for (const member of members) moved.push(await writeOne(tx, member, events))
      await told(tx, events.at(-1)?.position ?? 0n)
      return moved
    })
  } catch (error) {
    if (error instanceof Poison) {
      const bad = events.findIndex((event) => event.position === error.position)
      if (bad > 0) await upTo(bad)
      throw error
    }
    if (isDataError(error) && events.length > 1) {
      const half = Math.ceil(events.length / 2)
      return applyBatch(db, await upTo(half), events.slice(half), told)
    }
    throw error
  }
}
