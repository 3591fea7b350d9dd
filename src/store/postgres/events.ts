import type { Raw } from '../../events/codec.ts'
import type { Filter } from '../../events/store.ts'
import type { Encoded } from '../slices.ts'

/** A row of `log.events` as the queries of the store return it: with JSON as text. */
export interface Row {
  readonly position: string
  readonly stream: string
  readonly revision: string
  readonly id: string
  readonly type: string
  readonly data: string
  readonly metadata: string
  readonly at: Date
}

const toRaw = ({ position, stream, revision, id, type, data, metadata, at }: Row): Raw => {
  // the time of an event is the log's
  const time = at.toISOString()
  return {
    id,
    stream,
    revision: BigInt(revision),
    position: BigInt(position),
    at: time,
    type,
    data: JSON.parse(data) as unknown,
    metadata: { ...(JSON.parse(metadata) as object), at: time },
  }
}

export const toEncoded = (row: Row): Encoded => ({
  position: BigInt(row.position),
  revision: BigInt(row.revision),
  bytes: row.data.length + row.metadata.length,
  raw: () => toRaw(row),
})

/**
 * SQL that estimates the size of an event's JSON without reading it: what the server stores outside of the row stays there. Full click
 * events are compressed to about an eighth; the constant keeps short what may be compressed far better.
 */
const weight = `pg_column_size(data) * case when pg_column_compression(data) is null then 1 else 8 end
  + case when pg_column_compression(data) is null then 0 else 8192 end`

/** SQL for the rows of a query that come before this many bytes, at least one. `found` is how many there would be without that limit. */
export const fittingRows = (rows: string, order: 'position' | 'revision', bytes: string) => `
  select * from (
    select *, sum(weight) over (order by ${order}) - weight as before, count(*) over () as found
    from (select *, ${weight} as weight from (${rows}) as rows) as weighed
  ) as summed
  where before < ${bytes}`

/** SQL condition of each filter, to be followed by `and` and another. */
export const conditionOf: Readonly<Record<Filter, string>> = {
  clicks: `type = 'LinkClicked'`,
  domain: `type <> 'LinkClicked'`,
  all: 'true',
}
