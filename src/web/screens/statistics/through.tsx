import { useEffect } from 'preact/hooks'
import type { StatisticsAnswer } from '../../../http/accounts/contract/account.ts'
import { allTexts, counted, fill, figure, loadTexts, t } from '../../core/texts.ts'
import { clockOf, dayOf, moment } from '../../core/time.ts'
import { openVisits } from './openvisits.tsx'

export { openVisits }

interface Shown {
  readonly data: StatisticsAnswer['data']
}

/** Up to which event the figures are complete: an account book has a line for that. */
const Exact = ({ data }: Shown) => {
  const { event, at: stored, behind } = data.through
  const texts = t().stats
  if (event === null) return <p class="exact">{texts.noEvents}</p>
  return (
    <p class="exact">
      {fill(texts.exact, { n: figure(event) })}
      {stored && ` (${clockOf(moment(stored))})`}
      {behind !== null && `, ${counted(texts.behind, behind)}`}
    </p>
  )
}

/** Says which visits could not be recorded: "12 visits of 3 May could not be recorded." */
const Lost = ({ data: { lost = [] } }: Shown) => {
  useEffect(() => void loadTexts(), [])
  const texts = allTexts.value?.lost
  if (!texts) return null
  const inWords = (from: string, to: string) => (from === to ? from : fill(texts.between, { from, to }))
  return (
    <div class="notice">
      {lost.map(({ from, to, visits, of }) => (
        <p key={`${from} ${to} ${of}`}>
          {fill(counted(of === 'account' ? texts.own : texts.service, visits), {
            when: inWords(dayOf(moment(from)), dayOf(moment(to))),
          })}
        </p>
      ))}
      <p class="quiet">{texts.why}</p>
    </div>
  )
}

/** How complete the figures are. With it, they become links to their visits. */
export const Through = ({ data }: Shown) => {
  useEffect(openVisits, [])
  return (
    <>
      {data.lost && <Lost data={data} />}
      <Exact data={data} />
    </>
  )
}
