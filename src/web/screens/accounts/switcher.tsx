import { useEffect } from 'preact/hooks'
import type { MembershipList } from '../../../http/accounts/contract/member.ts'
import { baseOf, chosen } from '../../core/acting.ts'
import { t } from '../../core/alltexts.ts'
import { useLoad } from '../../core/load.ts'
import { role } from '../../core/session.ts'
import { roleName } from './role.ts'

const useMemberships = () => useLoad<MembershipList>('/api/memberships', { ofNow: true }).data?.data.memberships ?? []

/** The accounts in which the user may act, when there are several. */
export const Memberships = () => {
  const all = useMemberships()
  if (all.length < 2) return null
  return (
    <>
      {all.map(({ account, name, role, own }) => (
        <a
          key={account}
          href={baseOf(own ? undefined : account)}
          aria-current={(own ? chosen === undefined : chosen === account) ? 'true' : undefined}
        >
          <bdi>{name}</bdi>
          <span class="note">{own ? t().members.own : roleName(role)}</span>
        </a>
      ))}
      <hr />
    </>
  )
}

/** Shows the account in which the page acts, and the role. */
export const Acting = () => {
  const found = useMemberships().find(({ account }) => account === chosen)
  useEffect(() => {
    if (found) role.value = found.role
  }, [found?.role])
  if (!found) return null
  return (
    <span class="acting">
      <bdi>{found.name}</bdi> ({roleName(found.role)})
    </span>
  )
}
