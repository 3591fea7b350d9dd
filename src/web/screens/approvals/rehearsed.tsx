import { useEffect, useState } from 'preact/hooks'
import type { AnswerOf } from '../../../http/api/contract.ts'
import type { rehearseContract } from '../../../http/statistics/contract/rehearse.ts'
import { withoutScheme } from '../../core/address.ts'
import { t } from '../../core/alltexts.ts'
import { ApiError, request } from '../../core/api.ts'
import { counted, fill, figure } from '../../core/texts.ts'
import { Problem } from '../../parts/field.tsx'
import { Section } from '../../parts/section.tsx'
import { Skeleton } from '../../parts/states.tsx'

type Answer = AnswerOf<typeof rehearseContract, 'POST /api/url/:id/rehearse'>['data']
const mostMoves = 10

/** Where the clicks of the last 30 days would have gone by a proposal. */
export const Rehearsed = ({ link, proposal }: { readonly link: number; readonly proposal: number }) => {
  const [answer, setAnswer] = useState<Answer | ApiError | undefined>(undefined)
  const texts = t().approvals
  useEffect(() => {
    const stop = new AbortController()
    request<{ readonly data: Answer }>('POST', `/api/url/${link}/rehearse`, { proposal }, stop.signal).then(
      ({ data }) => setAnswer(data),
      (error: unknown) => error instanceof ApiError && setAnswer(error),
    )
    return () => stop.abort()
  }, [link, proposal])
  return (
    <Section title={texts.rehearsal}>
      {answer === undefined && <Skeleton rows={3} label={texts.rehearsal} />}
      {answer instanceof ApiError && <Problem>{answer.message}</Problem>}
      {answer && !(answer instanceof ApiError) && (
        <>
          <p>
            {fill(texts.rehearsed, {
              same: figure(answer.reproduced.clicks),
              all: counted(texts.clicks, answer.total.clicks),
            })}
          </p>
          <ol class="feed">
            {answer.moves.slice(0, mostMoves).map(({ from, to, clicks }, n) => (
              <li key={n}>
                <span class="quiet">{figure(clicks)}</span>
                <div>
                  <strong class="cut" dir="auto">
                    {withoutScheme(to.destination) || to.rule}
                  </strong>
                  <span class="from cut" dir="auto">
                    {fill(texts.insteadOf, { from: withoutScheme(from.destination) || from.rule })}
                  </span>
                </div>
              </li>
            ))}
          </ol>
        </>
      )}
    </Section>
  )
}
