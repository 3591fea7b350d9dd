import type { Knex } from 'knex'
import type { TableNames } from '../projections/projection.ts'

/** What a query reads from: connections, and which tables are read now. */
export interface Reader {
  readonly db: Knex
  readonly table: TableNames
}

/** Of a column that may be empty; the driver gives a bigint as text. */
export const idOrNull = (text: string | null) => (text === null ? null : Number(text))
