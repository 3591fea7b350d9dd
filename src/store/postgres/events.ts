import { parseRaw, type RawText } from '../../events/rawtext.ts'
import type { Filter } from '../../events/store.ts'
import type { Encoded } from '../slices.ts'
import { onlyNotedTypes } from './reclassified.ts'

/** A row of `log.events` as the queries of the store return it: with JSON as text. */
export interface Row {
  readonly position: string
  readonly stream: string
  readonly revision: string
  readonly id: string
  readonly type: string
  readonly data: string
  readonly metadata: string
  /** a number when another program has stored `infinity` */
  readonly at: Date | number
}

/**
 * Returns a time as ISO 8601. Another value, which no service stores, stays as it is; the proof of the log finds it.
 */
export const timeOf = (at: Date | number): string => {
  const time = new Date(at)
  return Number.isNaN(time.getTime()) ? String(at) : time.toISOString()
}

export const toText = ({ position, stream, revision, id, type, data, metadata, at }: Row): RawText => ({
  ...{ id, stream, revision: BigInt(revision), position: BigInt(position), at: timeOf(at), type },
  data,
  metadata,
})

/** Returns the approximate bytes of a row's JSON. */
export const bytesOf = ({ data, metadata }: Row): number => data.length + metadata.length

export const toEncoded = (row: Row): Encoded => ({
  position: BigInt(row.position),
  revision: BigInt(row.revision),
  bytes: bytesOf(row),
  raw: () => parseRaw(toText(row)),
})

/**
 * SQL that estimates the size of an event's JSON without reading values that the server stores outside of the row. Full
 * click events are compressed to about an eighth; the constant keeps the reads of highly compressible events short.
 */
const weight = `pg_column_size(data) * case when pg_column_compression(data) is null then 1 else 8 end
  + case when pg_column_compression(data) is null then 0 else 8192 end`

/**
 * SQL for the rows of a query that come before this many bytes, at least one. `found` is how many there would be
 * without that limit.
 */
export const fittingRows = (rows: string, order: 'position' | 'revision', bytes: string) => `
  select * from (
    select *, sum(weight) over (order by ${order}) - weight as before, count(*) over () as found
    from (select *, ${weight} as weight from (${rows}) as rows) as weighed
  ) as summed
  where before < ${bytes}`

/**
 * SQL of the positions that pass each filter: those in an order, after a condition. There is an index on the positions
 * of `LinkClicked`, and one on all others; the few other events that are read with the clicks are in
 * `log.reclassified`, because an index on them would have to read a log of any size first.
 */
const positions: Readonly<Record<Filter, (and: string, order: string) => string>> = {
  clicks: (and, order) => `
    select position from (
      (select position from log.events where type = 'LinkClicked' and ${and} ${order}) union all
      (select position from log.reclassified where ${and} ${order})
    ) as clicks ${order}`,
  domain: (and, order) => `
    select position from log.events where type <> 'LinkClicked' and type not in (${onlyNotedTypes}) and ${and} ${order}`,
  all: (and, order) => `select position from log.events where ${and} ${order}`,
}
const ofEach = (sql: (filter: Filter) => string): Readonly<Record<Filter, string>> => ({
  clicks: sql('clicks'),
  domain: sql('domain'),
  all: sql('all'),
})
/** SQL of the position of the newest event that passes each filter. */
export const newest = ofEach((filter) => positions[filter]('true', 'order by position desc limit 1'))
/** SQL of the rows that pass each filter: at most $2 of those after the position $1. */
export const rowsAfter = ofEach((filter) =>
  filter === 'clicks'
    ? `select e.* from (${positions.clicks('position > $1', 'order by position limit $2')}) as p
       cross join lateral (select * from log.events e where e.position = p.position) as e order by e.position`
    : positions[filter]('position > $1', 'order by position limit $2').replace('select position', 'select *'),
)
