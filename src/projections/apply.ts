import type { Knex } from 'knex'
import type { Recorded } from '../events/event.ts'
import type { DomainEvent } from '../events/index.ts'
import { prepared } from '../postgres/database.ts'
import { notify } from '../postgres/notifications.ts'
import type { Member } from './members.ts'
import { changesOf, type Change, type Projection, writeChanges } from './projection.ts'
import { checkpoints, tableNames } from './tables.ts'

/** The checkpoint has been moved by another projector, or other tables are live now. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken'
}

/** An event that a projection cannot apply. The subscription halts there: no event is skipped. */
export class Poison extends Error {
  override readonly name = 'Poison'
  readonly position: bigint
  constructor({ position, type, stream, revision }: Recorded<DomainEvent>, projection: string, cause: unknown) {
    super(`${projection} cannot apply event ${position} (${type}, ${stream}@${revision}): ${String(cause)}`, { cause })
    this.position = position
  }
}

/** Returns the notification to the other processes that is sent with the commit. */
export type Notification = (position: bigint) => string

const handles = ({ projection }: Member, { type }: Recorded<DomainEvent>) =>
  !('on' in projection) || type in projection.on
const isDataError = (error: unknown) => /^(22|23)/.test((error as { code?: string }).code ?? '')

const isBehind = ({ checkpoint }: Member, { position }: Recorded<DomainEvent>) => position > BigInt(checkpoint.position)

const moveWith = (more: string) =>
  `with moved as (
     update ${checkpoints} as c set position = ?, event_id = ? from json_populate_recordset(null::${checkpoints}, ?::json) as was
     where (c.projection, c.version, c.generation, c.position, c.live)
       = (was.projection, was.version, was.generation, was.position, was.live)
     returning 1
   ) select count(*)::int as n${more} from moved`
const [move, moveAndNotify] = [moveWith(''), moveWith(`, ${notify}`)]

/**
 * Moves the checkpoints by compare-and-set, as the first statement of the transaction: of two projectors one fails here. Projections that
 * handle none of the events move too, so that the lowest checkpoint says up to where the tables can be read and where to resume.
 */
const advance = async (
  tx: Knex,
  members: readonly Member[],
  to: Recorded<DomainEvent>,
  notification: Notification | undefined,
) => {
  const behind = members.filter((member) => isBehind(member, to)).map(({ checkpoint }) => checkpoint)
  const next = { position: to.position.toString(), event_id: to.id }
  const sql = notification ? moveAndNotify : move
  const bindings = [
    next.position,
    next.event_id,
    JSON.stringify(behind),
    ...(notification ? [notification(to.position)] : []),
  ]
  const { rows } = await tx.raw<{ rows: { n: number }[] }>(sql, bindings).options(prepared(sql))
  if (rows[0]?.n === behind.length) return next
  const names = behind.map(({ projection, version, generation }) => `${projection} ${version}/${generation}`)
  throw new Overtaken(`a checkpoint is no longer at ${behind[0]?.position}: ${names.join(', ')}`)
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

const writeOne = async (tx: Knex, member: Member, events: readonly Recorded<DomainEvent>[]) => {
  const { projection, checkpoint } = member
  const fresh = events.filter((event) => isBehind(member, event) && handles(member, event))
  if (fresh.length === 0) return
  const all = changes(projection, fresh)
  const names = tableNames(projection, checkpoint.generation)
  try {
    await ('on' in projection ? writeChanges(tx, names, all) : projection.write(tx, names, fresh))
  } catch (error) {
    if (isDataError(error) && fresh.length === 1) throw new Poison(fresh[0]!, projection.name, error)
    throw error
  }
}

/**
 * Applies a batch in one transaction: checkpoints, notification, rows. Returns the members with their new checkpoints. If an event cannot
 * be applied, the events before it are, and `Poison` is thrown. Throws `Overtaken`.
 */
export const applyBatch = async (
  db: Knex,
  members: readonly Member[],
  events: readonly Recorded<DomainEvent>[],
  notification?: Notification,
): Promise<readonly Member[]> => {
  const upTo = (n: number) => applyBatch(db, members, events.slice(0, n), notification)
  try {
    return await db.transaction(async (tx) => {
      const last = events.at(-1)
      if (!last) return members
      const next = await advance(tx, members, last, notification)
      for (const member of members) await writeOne(tx, member, events)
      return members.map((member) =>
        isBehind(member, last) ? { ...member, checkpoint: { ...member.checkpoint, ...next } } : member,
      )
    })
  } catch (error) {
    if (error instanceof Poison) {
      const bad = events.findIndex((event) => event.position === error.position)
      if (bad > 0) await upTo(bad)
      throw error
    }
    if (isDataError(error) && events.length > 1) {
      const half = Math.ceil(events.length / 2)
      return applyBatch(db, await upTo(half), events.slice(half), notification)
    }
    throw error
  }
}
