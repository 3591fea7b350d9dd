import type { Raw } from '../../events/codec.ts'
import type { Filter } from '../../events/store.ts'

/** A row of `log.events` as pg returns it. */
export interface Row {
  readonly position: string
  readonly stream: string
  readonly revision: string
  readonly id: string
  readonly type: string
  readonly data: unknown
  readonly metadata: object
  readonly at: Date
}

/** An event as the codec reads it; its time is the log's. */
export const toRaw = ({ position, revision, at, ...row }: Row): Raw => {
  const time = at.toISOString()
  return {
    ...row,
    position: BigInt(position),
    revision: BigInt(revision),
    at: time,
    metadata: { ...row.metadata, at: time },
  }
}

/** SQL condition of each filter, to be followed by `and` and another. */
export const conditionOf: Readonly<Record<Filter, string>> = {
  clicks: `type = 'LinkClicked'`,
  domain: `type <> 'LinkClicked'`,
  all: 'true',
}
