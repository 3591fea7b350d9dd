import type { Knex } from 'knex'
import type { TableNames } from '../projections/projection.ts'

/** What a query reads from: a connection pool, and the names of the live tables. */
export interface Reader {
  readonly db: Knex
  readonly table: TableNames
}

/** Reads several times, one after another, from the same moment, so that the figures of one answer agree while clicks are recorded. */
export const readOneMoment = <T>({ db, table }: Reader, read: (reader: Reader) => Promise<T>): Promise<T> =>
  db.transaction((transaction) => read({ db: transaction, table }), {
    isolationLevel: 'repeatable read',
    readOnly: true,
  })

/** Converts a nullable bigint column, which the driver returns as a string. */
export const idOrNull = (text: string | null) => (text === null ? null : Number(text))
