/** Which links of an account need the approval of a second person for a change. */
export interface ApprovalRules {
  /** links that have one of them */
  readonly tags: readonly string[]
  /** ids of domains, 0 for the service's own host */
  readonly domains: readonly number[]
  /** all links that visitors can open now */
  readonly live: boolean
}

/** No link needs one. */
export const noRules: ApprovalRules = { tags: [], domains: [], live: false }

export const hasRules = ({ tags, domains, live }: ApprovalRules): boolean =>
  live || tags.length > 0 || domains.length > 0

/** Whether each link that needs an approval by the rules before needs one by the rules after. */
export const isStricter = (before: ApprovalRules, after: ApprovalRules): boolean =>
  before.tags.every((tag) => after.tags.includes(tag)) &&
  before.domains.every((id) => after.domains.includes(id)) &&
  (after.live || !before.live)

/** What rules look at in a link. */
export interface RuledLink {
  readonly status: string
  readonly fields: {
    readonly tags?: readonly string[] | undefined
    readonly domain: number | null
    /** ISO 8601 */
    readonly starts?: string | null | undefined
    readonly expiry: string | null
    /** where visitors go once it has ended; empty: they get a page */
    readonly expired_url?: string | undefined
  }
  /** where it can be found besides its main address, or could when it was deleted */
  readonly places?: { readonly others: readonly RuledPlace[]; readonly released: readonly RuledPlace[] } | undefined
}
interface RuledPlace {
  readonly domain: number | null
}

/** Whether a link keeps what the rules by tags name it by: another rule that names it now may end by itself. */
export const keepsTags = (
  { tags }: ApprovalRules,
  { before, after }: { readonly before: RuledLink; readonly after: RuledLink },
): boolean => {
  const kept = after.fields.tags ?? []
  return (before.fields.tags ?? []).every((tag) => !tags.includes(tag) || kept.includes(tag))
}

/** Whether a link leads visitors anywhere: one that has ended may do so, too. */
const isLive = ({ status, fields: { starts, expiry, expired_url: instead } }: RuledLink, now: string) =>
  status === 'open' && (starts ?? '') <= now && (expiry === null || expiry > now || Boolean(instead))

/** Whether a change of a link needs an approval. `now` is ISO 8601. */
export const needsApproval = ({ tags, domains, live }: ApprovalRules, link: RuledLink, now: string): boolean => {
  const { fields, places } = link
  const all = [fields, ...(places?.others ?? []), ...(places?.released ?? [])]
  return (
    (fields.tags ?? []).some((tag) => tags.includes(tag)) ||
    all.some(({ domain }) => domains.includes(domain ?? 0)) ||
    (live && isLive(link, now))
  )
}
