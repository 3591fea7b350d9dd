import type { Loaded } from '../../../core/load.ts'
import { at } from '../../../core/router.ts'
import { account } from '../../../core/session.ts'
import { t } from '../../../core/alltexts.ts'
import { counted } from '../../../core/texts.ts'
import { moment } from '../../../core/time.ts'
import { periodOf } from '../../statistics/period.ts'
import { Periods } from '../../statistics/presets.tsx'
import { useRefresh } from '../../statistics/refresh.ts'
import { Statistics } from '../../statistics/statistics.tsx'

interface FiguresProps {
  readonly by: 'campaign' | 'channel'
  readonly id: number
  /** the sums over all time, which are of its links */
  readonly sums: { readonly links: number; readonly clicks: number }
  /** what the sums are from */
  readonly loaded: Loaded<unknown>
}

/** What a campaign or a channel brings: over time, as it happens, and broken down. */
export const Figures = ({ by, id, sums, loaded }: FiguresProps) => {
  const who = account.value
  const onClicks = useRefresh(loaded)
  // neither has a creation date, so the range begins with the registration of the account
  const period = periodOf(at.value.query, who ? moment(who.registered) : new Date(0))
  const { link, resources } = t()
  const allTime = { name: link.allTime, n: sums.clicks, note: counted(resources.onLinks, sums.links) }
  return (
    <div class="stack-4">
      <Periods period={period} />
      {who && <Statistics period={period} of={{ by, id, file: `${by}-${id}-clicks`, allTime, onClicks }} />}
    </div>
  )
}
