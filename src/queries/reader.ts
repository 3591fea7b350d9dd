import type { Knex } from 'knex'
import { prepared } from '../postgres/database.ts'
import type { TableNames } from '../projections/engine/projection.ts'

/** What a query reads from: a connection pool, and the names of the live tables. */
export interface Reader {
  readonly db: Knex
  readonly table: TableNames
  /** the names of the tables as they are now, where `table` has those of an earlier moment */
  readonly present?: TableNames
  /** whether `db` is a transaction in which all reads are from the same moment */
  readonly oneMoment?: true
  /** the last event that it has, apart from clicks */
  readonly upTo?: bigint
  /**
   * the last event whose clicks it has, where that is an earlier one; `table` has names of views then, wherever there
   * is one
   */
  readonly clicksUpTo?: bigint
  /** the newest event with clicks that the tables have, where that is known */
  readonly newestClicks?: bigint
  /** the time up to which a period without an end goes */
  readonly now?: Date
}

/**
 * Returns options that make the server keep a statement of frequent requests planned, which takes longer than to
 * execute it. The views of the past are planned with the position that is asked for.
 */
export const planned = ({ clicksUpTo }: Pick<Reader, 'clicksUpTo'>, sql: string): { readonly name?: string } =>
  clicksUpTo === undefined ? prepared(sql) : {}

/**
 * Reads several times, one after another, from the same moment, so that the figures of one answer agree while clicks
 * are recorded.
 */
export const readOneMoment = async <T>(reader: Reader, read: (reader: Reader) => Promise<T>): Promise<T> => {
  if (reader.oneMoment) return read(reader)
  const { db, table } = reader
  return db.transaction((transaction) => read({ db: transaction, table, oneMoment: true }), {
    isolationLevel: 'repeatable read',
    readOnly: true,
  })
}

/** Converts a nullable bigint column, which the driver returns as a string. */
export const idOrNull = (text: string | null) => (text === null ? null : Number(text))
