import { ownMember } from '../../events/accounts/team.ts'
import type { Reader } from '../reader.ts'

/** A member of an account, who has made something, or got it from one who was removed. */
export interface Made {
  readonly account: number
  readonly member: number
}

/** The start of the names of a kind's streams, whose ids follow. */
const prefixOf = (kind: string) => `${kind}-`

/**
 * Returns SQL of whether a resource is some member's work, by a column with its id. What nobody else has made is the
 * account's own.
 */
export const madeBy = (
  { table }: Pick<Reader, 'table'>,
  kind: string,
  id: string,
  { account, member }: Made,
): string => {
  // an array of ids instead of a join: without planner statistics, PostgreSQL would look all of them up for each row
  const made = `array(select substr(stream, ${prefixOf(kind).length + 1})::bigint from ${table('account_events')}
    where account = ${account} and maker ${member === ownMember ? 'is not null' : `= ${member}`} and stream like '${prefixOf(kind)}%')`
  return member === ownMember ? `not (${id} = any(${made}))` : `${id} = any(${made})`
}

/** Returns whether the resource of a stream is a member's work. */
export const isMadeBy = async ({ db, table }: Reader, stream: string, made: Made): Promise<boolean> => {
  const rows = (await db(table('account_events'))
    .where({ account: made.account, stream })
    .whereNotNull('maker')
    .select('maker')) as { maker: string }[]
  return Number(rows[0]?.maker ?? ownMember) === made.member
}
