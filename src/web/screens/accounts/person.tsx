import type { FoundMember } from '../../../http/accounts/contract/member.ts'
import type { LinkList } from '../../../http/links/contract/link.ts'
import { t } from '../../core/alltexts.ts'
import { useLoad } from '../../core/load.ts'
import { at, href, type ScreenProps } from '../../core/router.ts'
import { account } from '../../core/session.ts'
import { fill } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { Head } from '../../parts/section.tsx'
import { Failed } from '../../parts/states.tsx'
import { periodOf } from '../statistics/period.ts'
import { Periods } from '../statistics/presets.tsx'
import { useRefresh } from '../statistics/refresh.ts'
import { Statistics } from '../statistics/statistics.tsx'
import { headingOf } from './heading.ts'
import { roleName } from './role.ts'

/** A member of the account: what they made and changed, and where it sent visitors. */
export const PersonScreen = ({ params }: ScreenProps) => {
  const id = Number(params['id'])
  const found = useLoad<FoundMember>(`/api/member/${id}`)
  const links = useLoad<LinkList>(`/api/urls?archived=all&limit=1&made_by=${id}`)
  const onClicks = useRefresh(links)
  const who = account.value
  const period = periodOf(at.value.query, who ? moment(who.registered) : new Date(0))
  if (found.error) return <Failed error={found.error} reload={found.reload} />
  const texts = t().members
  const heading = headingOf(found.data, { former: t().history.someone.former, roleName })
  const allTime = { name: t().links.title, n: links.data?.data.result, href: href('/links', { made_by: String(id) }) }
  return (
    <>
      <Head title={heading?.called ?? '\u00a0'} text={heading?.text}>
        {heading && (
          <span class="chips">
            <a class="button" href={href('/links', { made_by: String(id) })}>
              {fill(texts.madeThese, { name: heading.called })}
            </a>
            <a class="button" href={href('/history', { member: String(id) })}>
              {fill(texts.didThese, { name: heading.called })}
            </a>
          </span>
        )}
      </Head>
      <div class="stack-4">
        <Periods period={period} />
        {who && (
          <Statistics period={period} of={{ by: 'made_by', id, file: `member-${id}-clicks`, allTime, onClicks }} />
        )}
      </div>
    </>
  )
}
