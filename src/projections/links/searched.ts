import type { Knex } from 'knex'
import type { Filter } from '../../events/store.ts'

/** How far the log was searched for its newest event of a filter, as an event store keeps it across restarts. */
interface Searched {
  readonly upTo: bigint
  readonly id: string
  readonly newest: bigint
}
interface Row {
  readonly filter: string
  readonly up_to: string
  readonly event_id: string
  readonly newest: string
}
const table = 'read.searched'

/** Creates the table; positions of EventStoreDB have 64 bits without a sign. */
export const createSearched = `
  create table if not exists ${table} (
    filter text primary key, up_to numeric(20) not null, event_id uuid not null, newest numeric(20) not null)`

export const openSearchMemory = (db: Knex, prefix: string | undefined) => {
  /** Another prefix is another log on the same server. */
  const keyOf = (filter: Filter) => (prefix === undefined ? filter : `${prefix}.${filter}`)
  return {
    load: async (filter: Filter): Promise<Searched | undefined> => {
      const [row] = await db<Row>(table).where({ filter: keyOf(filter) })
      return row && { upTo: BigInt(row.up_to), id: row.event_id, newest: BigInt(row.newest) }
    },
    save: async (filter: Filter, { upTo, id, newest }: Searched): Promise<void> => {
      const row = { filter: keyOf(filter), up_to: upTo.toString(), event_id: id, newest: newest.toString() }
      await db<Row>(table).insert(row).onConflict('filter').merge()
    },
  }
}
