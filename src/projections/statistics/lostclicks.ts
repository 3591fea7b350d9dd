import type { Knex } from 'knex'
import type { Recorded } from '../../events/event.ts'
import type { DomainEvent } from '../../events/index.ts'
import { column } from '../engine/columns.ts'
import type { Projection, TableNames } from '../engine/projection.ts'

/** Returns whose visits were lost. Older events do not say. */
const lossesOf = (event: Recorded<DomainEvent>) => {
  if (event.type !== 'ClicksDropped') return []
  const { accounts, count, from, to } = event.data
  return (accounts ?? [{ account: 0, count }]).map((one) => ({ ...one, position: event.position, from, to }))
}

const write = async (tx: Knex, names: TableNames, events: readonly Recorded<DomainEvent>[]) => {
  const rows = events.flatMap(lossesOf)
  if (rows.length === 0) return
  await tx.raw(
    `insert into ${names('lost_clicks')} (account, position, visits, first, last)
     select * from unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::timestamptz[], ?::timestamptz[])`,
    [
      column(rows, ({ account }) => account),
      column(rows, ({ position }) => position),
      column(rows, ({ count }) => count),
      rows.map(({ from }) => from),
      rows.map(({ to }) => to),
    ],
  )
}

/** Visits that a full disk has cost: whose, how many, and when. Those of account 0 may be anyone's. */
export const lostClicks: Projection = {
  name: 'lostclicks',
  version: 1,
  filter: 'domain',
  tables: {
    lost_clicks: (t) => `
      create table ${t} (
        account bigint, position bigint, visits bigint not null, first timestamptz not null, last timestamptz not null,
        primary key (account, position))`,
  },
  write,
}
