import type { Knex } from 'knex'
import type { TableNames } from '../projections/projection.ts'

/** What a query reads from: a connection pool, and the names of the live tables. */
export interface Reader {
  readonly db: Knex
  readonly table: TableNames
}

/** Converts a nullable bigint column, which the driver returns as a string. */
export const idOrNull = (text: string | null) => (text === null ? null : Number(text))
