import type { FoundMember } from '../../../http/accounts/contract/member.ts'

interface Texts {
  readonly former: string
  readonly roleName: (role: string) => string
}

/**
 * Returns what the page of a member says of them, undefined until that is known: a former member may have no name
 * either.
 */
export const headingOf = (found: Pick<FoundMember, 'details'> | undefined, { former, roleName }: Texts) => {
  if (!found) return undefined
  const { name, role, status } = found.details
  return { called: name || former, text: status === 'active' ? roleName(role) : former }
}
