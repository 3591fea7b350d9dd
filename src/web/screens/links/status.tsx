import type { ComponentChildren } from 'preact'
import type { LinkDetails } from '../../../http/links/contract/link.ts'
import { shownTime } from '../../core/past.ts'
import { t } from '../../core/alltexts.ts'
import { moment } from '../../core/time.ts'
import { Mark } from '../../parts/mark.tsx'
import { filled, When } from '../../parts/when.tsx'

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

/** Returns when the state of a link began, begins or ends; null where no time decides. */
const whenOf = ({ status, starts, expiry }: LinkDetails, now = shownTime()): ComponentChildren => {
  const texts = t().link
  const end = expiry === null ? undefined : moment(expiry)
  switch (status) {
    case 'blocked':
    case 'unreachable':
      return null
    case 'expired':
      return end !== undefined && end <= now ? <When at={end} /> : null
    case 'scheduled':
      return starts === null ? null : filled(texts.from, { when: <When at={moment(starts)} /> })
    case 'active':
    case 'protected':
      return end === undefined ? null : filled(texts.until, { when: <When at={end} /> })
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
      {when && <span class="quiet">{when}</span>}
    </Mark>
  )
}
