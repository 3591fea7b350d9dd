import type { Knex } from 'knex'
import type { EventName } from '../../events/event.ts'
import type { Projection } from './projection.ts'

/**
 * Why a projection does not run: it cannot apply or read an event (`Poison`, `Unreadable`), or its tables do not fit
 * the log (`WrongLog`).
 */
export interface Problem {
  readonly message: string
  readonly position: bigint
  readonly event: EventName | undefined
}

/** A projection that does not run, as other processes and the command line see it. */
export interface Halt {
  readonly projection: string
  readonly version: number
  /** a string, as the driver returns a bigint */
  readonly position: string
  /** the event that it cannot get past; null when its tables do not fit the log */
  readonly event_id: string | null
  readonly type: string | null
  readonly stream: string | null
  readonly revision: string | null
  readonly reason: string
  readonly since: Date
  readonly attempts: number
}
export const halts = 'read.halts'

export const createHalts = `
  create table if not exists ${halts} (
    projection text, version int, position bigint not null, event_id uuid, type text, stream text, revision bigint,
    reason text not null, since timestamptz not null default now(), attempts int not null default 1,
    primary key (projection, version))`

const keyOf = ({ name, version }: Projection) => ({ projection: name, version })

/** Returns the halted projections of all versions. */
export const loadHalts = (db: Knex): Promise<Halt[]> => db<Halt>(halts).select().orderBy('projection')

/** Returns those of the projections that are halted. */
export const haltsOf = (all: readonly Halt[], projections: readonly Projection[]): readonly Halt[] =>
  all.filter((halt) => projections.some(({ name, version }) => name === halt.projection && version === halt.version))

/** Records that a projection is halted, or that another attempt has failed. */
export const recordHalt = async (db: Knex, projection: Projection, { position, event, message }: Problem) => {
  const row = {
    position: position.toString(),
    event_id: event?.id ?? null,
    type: event?.type ?? null,
    stream: event?.stream ?? null,
    revision: event?.revision.toString() ?? null,
    reason: message,
  }
  await db(halts)
    .insert({ ...keyOf(projection), ...row })
    .onConflict(['projection', 'version'])
    .merge({
      ...row,
      since: db.raw('case when halts.position = excluded.position then halts.since else now() end'),
      attempts: db.raw('halts.attempts + 1'),
    })
}

/** The projections run again. */
export const clearHalts = async (db: Knex, projections: readonly Projection[]) => {
  for (const projection of projections) await db(halts).where(keyOf(projection)).delete()
}
