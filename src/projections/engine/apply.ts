import type { Knex } from 'knex'
import { type EventName, nameOfEvent, type Recorded } from '../../events/event.ts'
import { type DomainEvent, events as schemas, type LogEvent } from '../../events/index.ts'
import { isKnown, isUnknown } from '../../events/unknown.ts'
import { prepared } from '../../postgres/database.ts'
import { notify } from '../../postgres/notifications.ts'
import type { BatchSize } from './batchsize.ts'
import type { Member } from './members.ts'
import { type Change, type ChangesOf, changesOfBatch, type Projection, writeChanges } from './projection.ts'
import { checkpointsOf, tableNames } from './tables.ts'

/** Another projector has moved the checkpoint, or other tables are live now. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken'
}

/** An event that a projection cannot apply. The projection halts there: no event is skipped. */
export class Poison extends Error {
  override readonly name = 'Poison'
  readonly position: bigint
  readonly event: EventName
  /** name of the projection */
  readonly projection: string
  constructor(event: Recorded<DomainEvent>, projection: string, cause: unknown) {
    const { position, type, stream, revision } = event
    super(`${projection} cannot apply event ${position} (${type}, ${stream}@${revision}): ${String(cause)}`, { cause })
    this.position = position
    this.event = nameOfEvent(event)
    this.projection = projection
  }
}

/** Returns the notification to other processes that is sent with the commit, if any. */
export type Notification = (position: bigint) => string | undefined

const handles = ({ projection }: Member, { type }: Pick<EventName, 'type'>) =>
  !('on' in projection) || type in projection.on
/** The database rejects the values of an event (22, 23), or has other tables than the projection needs (42). */
const isDataError = (error: unknown) => /^(22|23|42)/.test((error as { code?: string }).code ?? '')

const isBehind = ({ checkpoint }: Member, { position }: Pick<EventName, 'position'>) =>
  position > BigInt(checkpoint.position)

/** Returns whether a member must apply an event: it is new to the member, handled by it, and not parked. */
export const concerns = (member: Member) => {
  const after = BigInt(member.checkpoint.position)
  return (event: EventName): boolean => event.position > after && handles(member, event) && !member.parked.has(event.id)
}

const moveWith = (checkpoints: string, more: string) =>
  `with moved as (
     update ${checkpoints} as c set position = ?, event_id = ? from json_populate_recordset(null::${checkpoints}, ?::json) as was
     where (c.projection, c.version, c.generation, c.position, c.live)
       = (was.projection, was.version, was.generation, was.position, was.live)
     returning 1
   ) select count(*)::int as n${more} from moved`

/**
 * Moves the checkpoints by compare-and-set, as the first statement of the transaction: of two projectors one fails
 * here. Projections that handle none of the events move too, so that the lowest checkpoint says up to where the tables
 * can be read and where to resume. Returns the members with their new checkpoints.
 */
const advance = async (
  tx: Knex,
  members: readonly Member[],
  to: Pick<EventName, 'position' | 'id'>,
  notification: Notification | undefined,
) => {
  const behind = members.filter((member) => isBehind(member, to)).map(({ checkpoint }) => checkpoint)
  const next = { position: to.position.toString(), event_id: to.id }
  const text = notification?.(to.position)
  // the members of a pass have their tables in the same schema
  const sql = moveWith(checkpointsOf(members[0]?.projection ?? {}), text === undefined ? '' : `, ${notify}`)
  const bindings = [next.position, next.event_id, JSON.stringify(behind), ...(text === undefined ? [] : [text])]
  const { rows } = await tx.raw<{ rows: { n: number }[] }>(sql, bindings).options(prepared(sql))
  if (rows[0]?.n === behind.length)
    return members.map((member) =>
      isBehind(member, to) ? { ...member, checkpoint: { ...member.checkpoint, ...next } } : member,
    )
  const names = behind.map(({ projection, version, generation }) => `${projection} ${version}/${generation}`)
  throw new Overtaken(`a checkpoint is no longer at ${behind[0]?.position}: ${names.join(', ')}`)
}

const changes = (projection: Projection, events: readonly Recorded<DomainEvent>[], changesOf: ChangesOf): Change[] => {
  if (!('on' in projection)) return []
  return events.flatMap((event) => {
    try {
      return changesOf(projection, event)
    } catch (error) {
      throw new Poison(event, projection.name, error)
    }
  })
}

/** The statement was too large for the server or for one string: fewer events may pass. */
const isTooLarge = (error: unknown) =>
  error instanceof RangeError || /^(57014|54...|ERR_STRING_TOO_LONG)$/.test((error as { code?: string }).code ?? '')
/** A single event for which this is true can never be applied. A cancelled statement (57014) may succeed later. */
const isHopeless = (error: unknown) =>
  isDataError(error) || (isTooLarge(error) && (error as { code?: string }).code !== '57014')

/** An event of a trusted log is validated only after a failure: another program must have changed it. */
const isInvalid = ({ type, data }: Recorded<DomainEvent>) => !schemas[type].safeParse(data).success

const writeOne = async (tx: Knex, member: Member, events: readonly Recorded<LogEvent>[], changesOf: ChangesOf) => {
  const { projection, checkpoint } = member
  const names = tableNames(projection, checkpoint.generation)
  const concerned = events.filter(concerns(member))
  const unknown = concerned.filter(isUnknown)
  if (unknown.length > 0 && 'write' in projection) await projection.writeUnknown?.(tx, names, unknown)
  const fresh = concerned.filter(isKnown)
  if (fresh.length === 0) return
  const all = changes(projection, fresh, changesOf)
  try {
    await ('on' in projection ? writeChanges(tx, names, all) : projection.write(tx, names, fresh, changesOf))
  } catch (error) {
    if (isHopeless(error) && fresh.length === 1) throw new Poison(fresh[0]!, projection.name, error)
    const wrong = error instanceof TypeError || error instanceof RangeError ? fresh.find(isInvalid) : undefined
    if (wrong) throw new Poison(wrong, projection.name, error)
    throw error
  }
}

/**
 * Applies a batch in one transaction: checkpoints, notification, rows. Returns the members with their new checkpoints.
 */
const applyBatch = (
  db: Knex,
  members: readonly Member[],
  events: readonly Recorded<LogEvent>[],
  { notification, isDurable = true }: Pick<ApplyOptions, 'notification' | 'isDurable'>,
): Promise<readonly Member[]> =>
  db.transaction(async (tx) => {
    if (!isDurable) await tx.raw('set local synchronous_commit = off')
    const last = events.at(-1)!
    const moved = await advance(tx, members, last, notification)
    // the versions of rows come from the same changes as the rows
    const changesOf = changesOfBatch()
    for (const member of members) await writeOne(tx, member, events, changesOf)
    return moved
  })

/** Moves members past an event that none of them handles. */
export const skipEvent = (
  db: Knex,
  members: readonly Member[],
  event: EventName,
  notification: Notification | undefined,
): Promise<readonly Member[]> => db.transaction((tx) => advance(tx, members, event, notification))

export interface ApplyOptions {
  readonly size: BatchSize
  /** stops applying between two batches */
  readonly signal?: AbortSignal
  readonly notification?: Notification | undefined
  /**
   * false while the tables have no readers: after a crash of PostgreSQL, the events are applied again, so that no
   * commit waits for the disk
   */
  readonly isDurable?: boolean
  /** Called after each commit. */
  readonly onApplied?: (members: readonly Member[], position: bigint) => Promise<void> | void
}

/** The members that applied the events, and those that stay before an event that they cannot apply. */
export interface Applied {
  readonly running: readonly Member[]
  readonly halted: readonly Poison[]
}

/**
 * Applies events in transactions of a size that the database accepts. A member that cannot apply an event stays before
 * it, and the others go on. An event that only a newer release can read changes no row. Throws `Overtaken`.
 */
export const applyEvents = async (
  db: Knex,
  members: readonly Member[],
  events: readonly Recorded<LogEvent>[],
  { size, signal, onApplied, ...options }: ApplyOptions,
): Promise<Applied> => {
  let running = members
  const halted: Poison[] = []
  let rest = events
  let batch = size.take(rest)
  while (batch.length > 0 && running.length > 0 && !signal?.aborted) {
    try {
      running = await applyBatch(db, running, batch, options)
    } catch (error) {
      const before = error instanceof Poison ? batch.filter(({ position }) => position < error.position) : []
      if (before.length > 0) batch = before
      else if (error instanceof Poison) {
        running = running.filter(({ projection }) => projection.name !== error.projection)
        halted.push(error)
      } else if (batch.length > 1 && (isDataError(error) || isTooLarge(error)) && !signal?.aborted) {
        if (isTooLarge(error)) size.shrink(batch)
        batch = batch.slice(0, Math.ceil(batch.length / 2))
      } else throw error
      continue
    }
    size.grow()
    const { position } = batch.at(-1)!
    rest = rest.slice(batch.length)
    batch = size.take(rest)
    await onApplied?.(running, position)
  }
  return { running, halted }
}
