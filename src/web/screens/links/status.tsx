import type { LinkDetails } from '../../../http/links/contract/link.ts'
import { shownTime } from '../../core/past.ts'
import { t } from '../../core/alltexts.ts'
import { fill } from '../../core/texts.ts'
import { moment, momentOf } from '../../core/time.ts'

type State = 'active' | 'scheduled' | 'expired' | 'protected' | 'archived'

export interface StatusProps {
  readonly state: State
  /** when it began or ends */
  readonly note: string
}

/** Returns what a visitor of a link meets now. */
export const statusOf = ({ starts, expiry, password, archived }: LinkDetails, now = shownTime()): StatusProps => {
  const texts = t().link
  const until = expiry === null ? '' : fill(texts.until, { when: momentOf(moment(expiry)) })
  if (expiry !== null && moment(expiry) <= now) return { state: 'expired', note: momentOf(moment(expiry)) }
  if (starts !== null && moment(starts) > now)
    return { state: 'scheduled', note: fill(texts.from, { when: momentOf(moment(starts)) }) }
  if (password) return { state: 'protected', note: until }
  return { state: archived ? 'archived' : 'active', note: until }
}

const whole = <circle class="full" cx="6" cy="6" r="4.5" />
const ring = <circle cx="6" cy="6" r="4.5" />
const shapes = {
  active: whole,
  archived: ring,
  scheduled: (
    <>
      {ring}
      <path class="full" d="M6 1.5a4.5 4.5 0 0 1 0 9z" />
    </>
  ),
  expired: (
    <>
      {ring}
      <path d="M3 9l6-6" />
    </>
  ),
  protected: <path d="M2 5.5h8v5H2zM4 5.5V3.800a2 2 0 0 1 4 0v1.700" />,
} as const

/** A status has a shape, a color and a word: the color alone says nothing. */
export const Status = ({ state, note }: StatusProps) => (
  <span class={`status ${state}`}>
    <svg viewBox="0 0 12 12" aria-hidden="true">
      {shapes[state]}
    </svg>
    {t().link[state]}
    {note !== '' && <span class="quiet">{note}</span>}
  </span>
)
