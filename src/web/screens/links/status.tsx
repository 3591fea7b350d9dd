import type { LinkDetails } from '../../../http/links/contract/link.ts'
import { shownTime } from '../../core/past.ts'
import { t } from '../../core/alltexts.ts'
import { fill } from '../../core/texts.ts'
import { moment, momentOf } from '../../core/time.ts'
import { Mark } from '../../parts/mark.tsx'

type State = LinkDetails['status'] | 'archived'

/** How the state of a link is marked. */
export const marks = {
  active: 'good',
  archived: 'off',
  scheduled: 'wait',
  expired: 'ended',
  protected: 'locked',
  unreachable: 'bad',
  blocked: 'bad',
} as const satisfies Readonly<Record<State, string>>

/** Returns the word for the state of a link. */
export const wordOf = (state: State): string => (state === 'blocked' ? t().resources.blocked : t().link[state])

/** Returns when the state of a link began, begins or ends; empty where no time decides. */
const whenOf = ({ status, starts, expiry }: LinkDetails, now = shownTime()): string => {
  const texts = t().link
  const end = expiry === null ? undefined : moment(expiry)
  switch (status) {
    case 'blocked':
    case 'unreachable':
      return ''
    case 'expired':
      return end !== undefined && end <= now ? momentOf(end) : ''
    case 'scheduled':
      return starts === null ? '' : fill(texts.from, { when: momentOf(moment(starts)) })
    case 'active':
    case 'protected':
      return end === undefined ? '' : fill(texts.until, { when: momentOf(end) })
  }
}

/** What a visitor of a link meets now. */
export const Status = ({ details }: { readonly details: LinkDetails }) => {
  const { status, archived } = details
  const state = status === 'active' && archived ? 'archived' : status
  const when = whenOf(details)
  return (
    <Mark kind={marks[state]}>
      {wordOf(state)}
      {when !== '' && <span class="quiet">{when}</span>}
    </Mark>
  )
}
