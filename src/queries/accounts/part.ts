import { ownMember } from '../../events/accounts/team.ts'
import { isOnDomains } from '../links/addresses.ts'
import type { Reader } from '../reader.ts'

/** The part of an account that a request is about, or that its caller is limited to. */
export interface Part {
  readonly account: number
  /** the member who created it, or took it over from a removed one; undefined: any */
  readonly maker?: number | undefined
  /** ids of the domains that it is on, 0 for the service's own host; undefined: any */
  readonly domains?: readonly number[] | undefined
  /**
   * the member who is limited to these domains: resources on no domain, such as campaigns, are in the part when they
   * are the member's own
   */
  readonly holder?: number | undefined
}

/** Kinds of resources on the service's own host. */
export const onOwnHost: ReadonlySet<string> = new Set(['bio', 'qr'])

type Names = Pick<Reader, 'table' | 'present'>

/** SQL of whether a resource is the work of a member. Without another creator, it is the account's own. */
const madeBy = ({ table }: Pick<Reader, 'table'>, kind: string, id: string, account: number, maker: number) => {
  // an array of ids instead of a join: without planner statistics, PostgreSQL would look all of them up for each row
  const made = `array(select substr(stream, ${kind.length + 2})::bigint from ${table('account_events')}
    where account = ${account} and maker ${maker === ownMember ? 'is not null' : `= ${maker}`} and stream like '${kind}-%')`
  // a hash lookup for each row: an array would be searched from its beginning
  return maker === ownMember ? `${id} not in (select unnest(${made}))` : `${id} = any(${made})`
}

/**
 * Returns what is on some domains: links by their own domains, other resources by `madeBy`. Reads of an earlier moment
 * use the current domain and holder, too: a member sees the resources that they may see today.
 */
const on = (
  { table, present = table }: Names,
  kind: string,
  id: string,
  { domains = [] }: Part,
  own: () => string,
): string => {
  const listed = `any('{${domains.join()}}'::bigint[])`
  if (kind === 'domain') return `${id} = ${listed}`
  if (onOwnHost.has(kind)) return String(domains.includes(0))
  if (kind !== 'link') return own()
  return `exists (select from ${present('links')} on_domain where on_domain.id = ${id} and ${isOnDomains(present, 'on_domain', listed)})`
}

/** Returns SQL of whether a resource is in a part of its account, by a column with its id. */
export const inPart = (reader: Names, kind: string, id: string, part: Part): string => {
  const { account, maker, domains, holder = ownMember } = part
  const conditions = [
    ...(maker === undefined ? [] : [madeBy(reader, kind, id, account, maker)]),
    ...(domains === undefined ? [] : [on(reader, kind, id, part, () => madeBy(reader, kind, id, account, holder))]),
  ]
  return conditions.length === 0 ? 'true' : `(${conditions.join(' and ')})`
}

/** Returns whether the resource of a stream is the work of a member. */
export const isMadeBy = async (
  { db, table }: Reader,
  stream: string,
  account: number,
  member: number,
): Promise<boolean> => {
  const rows = (await db(table('account_events')).where({ account, stream }).whereNotNull('maker').select('maker')) as {
    maker: string
  }[]
  return Number(rows[0]?.maker ?? ownMember) === member
}
