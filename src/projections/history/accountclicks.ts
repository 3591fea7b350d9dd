import type { Knex } from 'knex'
import type { Recorded } from '../../events/event.ts'
import type { DomainEvent } from '../../events/index.ts'
import { accountIndex, type AccountEntry, insertEntries } from './accountindex.ts'
import type { Projection, TableNames } from '../engine/projection.ts'

const entriesOf = (event: Recorded<DomainEvent>): readonly AccountEntry[] =>
  event.type === 'LinkClicked'
    ? [...new Set(event.data.clicks.map(({ account }) => account))].map((account) => ({ ...event, account }))
    : []

const write = (tx: Knex, names: TableNames, events: readonly Recorded<DomainEvent>[]) =>
  insertEntries(tx, names('account_clicks'), events.flatMap(entriesOf))

/** Where the clicks of each account are in the log: one row for each batch that has some. */
export const accountClicks: Projection = {
  name: 'accountclicks',
  version: 1,
  filter: 'clicks',
  indexedLast: ['account_clicks'],
  tables: { account_clicks: accountIndex },
  write,
}
