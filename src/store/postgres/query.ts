import pg, { type Pool } from 'pg'
import { StoreUnavailable } from '../../events/store.ts'

/** JSON stays text: the codec's caller parses it, event by event. */
const types = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === pg.types.builtins.JSON
      ? (text: string) => text
      : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

/**
 * Runs a statement that the server keeps prepared under `name`. Throws `StoreUnavailable` unless the statement itself
 * is at fault.
 */
export type Query = <R extends object>(name: string, text: string, values: unknown[]) => Promise<R[]>

export const createQuery =
  (pool: Pool): Query =>
  async <R extends object>(name: string, text: string, values: unknown[]) => {
    try {
      return (await pool.query<R>({ name, text, values, types })).rows
    } catch (error) {
      throw isStatementError(error) ? error : new StoreUnavailable('the event log cannot be reached', { cause: error })
    }
  }

/**
 * Whether the server has rejected this very statement: bad data (SQLSTATE class 22), a violated constraint (23), bad
 * syntax or names (42). After any other error, known as an outage (`isUnavailable`) or not, an append may have been
 * stored and has to be repeated.
 */
const isStatementError = (error: unknown) => /^(22|23|42)/.test((error as { code?: string }).code ?? '')
