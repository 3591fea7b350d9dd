import type { ApprovalRules } from '../../events/approvals/rules.ts'
import { kinds, resourceKinds } from '../../events/kinds.ts'
import { inPart, type Part } from '../accounts/part.ts'
import { isOnDomains } from '../links/addresses.ts'
import { filtered, inOrder, type Listed, type ListRequest, readPositions } from '../page.ts'
import type { Reader } from '../reader.ts'

/** Returns which links of an account need an approval; undefined: none ever did. */
export const findRules = async ({ db, table }: Reader, account: number): Promise<ApprovalRules | undefined> => {
  const [row] = (await db(table('approval_rules'))
    .where({ account })
    .select('tags', 'domains', 'live')) as ApprovalRules[]
  return row && { ...row, domains: row.domains.map(Number) }
}

/** What a link may use: it answers differently once that changes. */
export type Used = { readonly domain: number } | { readonly type: string } | { readonly pixel: number }

/** Returns whether a link that needs an approval uses something. */
export const isUsedByRuled = async (
  { db, table }: Reader,
  account: number,
  { tags, domains, live }: ApprovalRules,
  used: Used,
): Promise<boolean> => {
  const links = db({ l: table('links') }).where({ account, deleted: null })
  const isOn = (listed: string) => isOnDomains(table, 'l', listed)
  if ('domain' in used) void links.whereRaw(isOn('(?::bigint)'), [used.domain, used.domain])
  else if ('type' in used) void links.where('type', used.type)
  else void links.whereRaw('pixels::jsonb @> ?::jsonb', [JSON.stringify([used.pixel])])
  const ruled = links.whereRaw(
    `(tags && ?::text[] or ${isOn('any(?::bigint[])')}
      or (?::boolean and coalesce(starts <= now(), true)
        and (coalesce(expiry > now(), true) or expired_url <> '')))`,
    [[...tags], [...domains], [...domains], live],
  )
  return (await ruled.select('id').limit(1)).length > 0
}

/** A proposed change; `decided` and `decider` are null while it waits. */
export interface ListedProposal {
  readonly number: number
  readonly kind: string
  readonly target: number
  readonly revision: number
  readonly member: number
  readonly status: 'open' | 'approved' | 'refused' | 'withdrawn' | 'stale'
  readonly proposed: Date
  readonly decided: Date | null
  readonly decider: number | null
  readonly note: string | null
}

export interface ProposalFilter {
  readonly status?: ListedProposal['status'] | undefined
  /** what a member sees who sees a part of the account; undefined: all */
  readonly seen?: { readonly by: number; readonly part: Part } | undefined
}

const columns = [
  ...(['number', 'kind', 'target', 'revision', 'member', 'status', 'proposed', 'decided', 'decider', 'note'] as const),
]
const read = (row: ListedProposal): ListedProposal => ({
  ...row,
  number: Number(row.number),
  target: Number(row.target),
  revision: Number(row.revision),
  member: Number(row.member),
  decider: row.decider === null ? null : Number(row.decider),
})

/** SQL of the type of a resource as the API names it, and of the note. */
const searched = `case kind ${resourceKinds.map((kind) => `when '${kind}' then '${kinds[kind].path}'`).join(' ')}
  else kind end || ' ' || coalesce(note, '')`

/** SQL of whether a member sees a row: their own and, where only domains limit them, those of links. */
const isSeen = (reader: Reader, { by, part }: NonNullable<ProposalFilter['seen']>) =>
  `(member = ${by} ${part.maker === undefined ? `or kind = 'link'` : ''})
    and (kind <> 'link' or ${inPart(reader, 'link', 'target', part)})`

/** Returns one page of what was proposed in an account. */
export const listProposals = async (
  reader: Reader,
  account: number,
  { status, seen }: ProposalFilter,
  request: ListRequest,
): Promise<Listed<ListedProposal>> => {
  const { db, table } = reader
  const all = () => db(table('proposals')).where({ account })
  const matching = () => {
    const rows = all()
    if (status) void rows.where({ status })
    if (seen) void rows.whereRaw(isSeen(reader, seen))
    return filtered(db, rows, request, { searched, created: 'proposed', isIn: ({ maker }) => `member = ${maker}` })
  }
  const found = await readPositions({ matching, position: ['number'] }, reader, request)
  const numbers = found.rows.map(([number]) => Number(number))
  const rows = (await all()
    .whereIn('number', numbers)
    .select(...columns)) as ListedProposal[]
  return inOrder(found, rows.map(read), ({ number }) => number)
}

/** Returns what was proposed under a number. */
export const findProposal = async (
  { db, table }: Reader,
  account: number,
  number: number,
): Promise<ListedProposal | undefined> => {
  const [row] = (await db(table('proposals'))
    .where({ account, number })
    .select(...columns)) as ListedProposal[]
  return row && read(row)
}
