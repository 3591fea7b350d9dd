import type { Database } from '../../postgres/database.ts'

/** An event that does not follow on the one before it in its stream. */
export interface Jump {
  readonly position: bigint
  /** of the event before it, -1n when there is none */
  readonly before: bigint
}

interface Place {
  readonly stream: string
  /** a string, as the driver returns a bigint */
  readonly revision: string
}
interface Part {
  readonly last: Place | null
  readonly jumps: readonly { readonly position: string; readonly before: string }[]
}

/** An event below the first position. Those who read a stream see it, and those who read the log do not. */
export interface Hidden {
  readonly position: bigint
  readonly stream: string
  readonly revision: bigint
  readonly type: string
}

/** hidden events that are named */
const mostHidden = 100

/** Finds the events of a log in PostgreSQL that have no place in its order. */
export const findHidden = async (db: Database): Promise<readonly Hidden[]> => {
  const { rows } = await db.raw<{ rows: { position: string; stream: string; revision: string; type: string }[] }>(
    `select position, stream, revision, type from log.events where position < 1 order by position limit ${mostHidden}`,
  )
  return rows.map(({ position, revision, ...named }) => ({
    ...named,
    position: BigInt(position),
    revision: BigInt(revision),
  }))
}

/** events that are looked at in one statement, by their index alone */
const step = 100_000

const sql = `
  with part as (
    select stream, revision from log.events where (stream, revision) > (?, ?::bigint) order by stream, revision limit ?
  ), step as (
    select stream, revision, lag(revision, 1, case when stream = ? then ?::bigint else -1 end) over (partition by stream order by revision) as before from part
  )
  select
    (select json_build_object('stream', stream, 'revision', revision::text) from part order by stream desc, revision desc limit 1) as last,
    (select coalesce(json_agg(json_build_object('position', e.position::text, 'before', s.before::text)), '[]') from step s
      join log.events e using (stream, revision) where s.revision <> s.before + 1) as jumps`

/**
 * Finds the events of a log in PostgreSQL whose revision is not the next one of their stream. No append of the service
 * leaves a revision out.
 */
export const findJumps = async (db: Database): Promise<readonly Jump[]> => {
  const found: Jump[] = []
  let place: Place = { stream: '', revision: '-1' }
  for (;;) {
    const { stream, revision } = place
    const { rows } = await db.raw<{ rows: Part[] }>(sql, [stream, revision, step, stream, revision])
    const { last, jumps } = rows[0]!
    found.push(...jumps.map(({ position, before }) => ({ position: BigInt(position), before: BigInt(before) })))
    if (!last) return found
    place = last
  }
}

const fractions = `
  with part as (select position, at from log.events where position > ? order by position limit ?)
  select (select max(position) from part) as last,
    (select coalesce(json_agg(position::text), '[]') from part where at <> date_trunc('milliseconds', at)) as found`

/** Finds the positions of events whose time has a part of a millisecond. No append of the service gives one such. */
export const findFractions = async (db: Database): Promise<ReadonlySet<bigint>> => {
  const all: bigint[] = []
  let place = '0'
  for (;;) {
    const { rows } = await db.raw<{ rows: { last: string | null; found: readonly string[] }[] }>(fractions, [
      place,
      step,
    ])
    const { last, found } = rows[0]!
    all.push(...found.map(BigInt))
    if (last === null) return new Set(all)
    place = last
  }
}
