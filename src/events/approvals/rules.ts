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
  }
  /** where it can be found besides its main address */
  readonly places?: { readonly others: readonly { readonly domain: number | null }[] } | undefined
}

/** Whether a link keeps what the rules by tags name it by: another rule that names it now may end by itself. */
export const keepsTags = (
  { tags }: ApprovalRules,
  { before, after }: { readonly before: RuledLink; readonly after: RuledLink },
): boolean => {
  const kept = after.fields.tags ?? []
  return (before.fields.tags ?? []).every((tag) => !tags.includes(tag) || kept.includes(tag))
}

/** Whether a change of a link needs an approval. `now` is ISO 8601. */
export const needsApproval = (
  { tags, domains, live }: ApprovalRules,
  { status, fields, places }: RuledLink,
  now: string,
): boolean =>
  (fields.tags ?? []).some((tag) => tags.includes(tag)) ||
  [fields, ...(places?.others ?? [])].some(({ domain }) => domains.includes(domain ?? 0)) ||
  (live && status === 'open' && (fields.starts ?? '') <= now && (fields.expiry === null || fields.expiry > now))
