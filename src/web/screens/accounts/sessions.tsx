import type { Session, SessionList } from '../../../http/accounts/contract/session.ts'
import { useState } from 'preact/hooks'
import { t } from '../../core/alltexts.ts'
import { request } from '../../core/api.ts'
import { useLoad } from '../../core/load.ts'
import { fill } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { attempt, say, sayProblem } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Section } from '../../parts/section.tsx'
import { Failed, Skeleton } from '../../parts/states.tsx'
import { filled, When } from '../../parts/when.tsx'

const SessionRow = ({ session, onEnd }: { readonly session: Session; readonly onEnd: () => void }) => {
  const texts = t().account
  return (
    <tr>
      <th scope="row">
        <strong>{fill(texts.browserOn, { browser: session.browser, os: session.os })}</strong>
        <br />
        <span class="quiet small">{filled(texts.since, { when: <When at={moment(session.date)} as="day" /> })}</span>
      </th>
      <td class="quiet">{session.current ? texts.thisOne : <When at={moment(session.lastused)} />}</td>
      <td class="num">
        {!session.current && (
          <Button writes onClick={onEnd}>
            {texts.end}
          </Button>
        )}
      </td>
    </tr>
  )
}

/** Where the account is signed in. */
export const Sessions = () => {
  const list = useLoad<SessionList>('/api/sessions')
  const [ended, setEnded] = useState<ReadonlySet<number>>(new Set())
  const texts = t().account
  const rows = (list.data?.data.sessions ?? []).filter(({ id }) => !ended.has(id))
  const end = ({ id, browser, os }: Session) =>
    attempt({
      apply: () => {
        setEnded((before) => new Set([...before, id]))
        return () => setEnded((before) => new Set([...before].filter((one) => one !== id)))
      },
      send: () => request('DELETE', `/api/session/${id}`),
      done: texts.ended,
      what: fill(texts.browserOn, { browser, os }),
    })
  const endOthers = () => request('DELETE', '/api/sessions').then(() => say(texts.othersEnded), sayProblem)
  return (
    <Section
      title={texts.sessions}
      tools={
        rows.length > 1 && (
          <button class="text-button small" type="button" onClick={() => void endOthers()}>
            {texts.endOthers}
          </button>
        )
      }
    >
      {list.error && <Failed error={list.error} reload={list.reload} />}
      {!list.data && !list.error && <Skeleton rows={2} label={texts.sessions} />}
      <table class="figures">
        <caption class="visually-hidden">{texts.sessions}</caption>
        <tbody>
          {rows.map((session) => (
            <SessionRow key={session.id} session={session} onEnd={() => void end(session)} />
          ))}
        </tbody>
      </table>
    </Section>
  )
}
