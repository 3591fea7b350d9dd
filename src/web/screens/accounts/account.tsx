import type { Updated } from '../../../http/api/contract.ts'
import type { Session, SessionList } from '../../../http/accounts/contract/session.ts'
import { useState } from 'preact/hooks'
import { request } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { useLoad } from '../../core/load.ts'
import { account } from '../../core/session.ts'
import { t } from '../../core/alltexts.ts'
import { fill } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { attempt, say, sayProblem } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { PasswordField, Problem, TextField } from '../../parts/field.tsx'
import { Head, Section } from '../../parts/section.tsx'
import { Failed, Skeleton } from '../../parts/states.tsx'
import { SecondFactor } from './secondfactor.tsx'
import { Zone } from './zone.tsx'
import { filled, When } from '../../parts/when.tsx'

const change = async (body: object) => {
  const { message } = await request<Updated>('PUT', '/api/account/update', body)
  say(message)
}

const Email = () => {
  const [email, setEmail] = useState(account.value?.email ?? '')
  const [current, setCurrent] = useState('')
  const { run, busy, problem } = useForm()
  const texts = t().account
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void run(async () => {
      await change({ email, current_password: current })
      setCurrent('')
    })
  }
  return (
    <form class="fields" onSubmit={submit}>
      <TextField
        label={t().signIn.email}
        type="email"
        autocomplete="email"
        required
        value={email}
        onValue={setEmail}
        problem={problem('email')}
      />
      {email !== account.value?.email && (
        <>
          <PasswordField
            label={texts.currentPassword}
            autocomplete="current-password"
            required
            value={current}
            onValue={setCurrent}
            hint={texts.whyPassword}
            problem={problem('current_password') ?? problem()}
          />
          <div>
            <Button type="submit" kind="primary" busy={busy}>
              {texts.changeEmail}
            </Button>
          </div>
        </>
      )}
    </form>
  )
}

const Password = () => {
  const [password, setPassword] = useState('')
  const [current, setCurrent] = useState('')
  const texts = t().account
  const { run, busy, problem } = useForm()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void run(async () => {
      await change({ password, current_password: current })
      setPassword('')
      setCurrent('')
    })
  }
  return (
    <form class="fields" onSubmit={submit}>
      <PasswordField
        label={texts.newPassword}
        autocomplete="new-password"
        required
        value={password}
        onValue={setPassword}
        hint={t().signIn.passwordHint}
        problem={problem('password')}
      />
      <PasswordField
        label={texts.currentPassword}
        autocomplete="current-password"
        required
        value={current}
        onValue={setCurrent}
        problem={problem('current_password')}
      />
      {problem() !== undefined && <Problem>{problem()}</Problem>}
      <div>
        <Button type="submit" busy={busy}>
          {texts.changePassword}
        </Button>
      </div>
    </form>
  )
}

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

const Sessions = () => {
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

/** The account: its address, its password, its second factor, and where it is signed in. */
export const AccountScreen = () => {
  const texts = t().account
  const who = account.value
  if (!who) return <Skeleton rows={4} label={texts.title} />
  return (
    <>
      <Head
        title={texts.title}
        text={filled(texts.username, { name: who.username, when: <When at={moment(who.registered)} as="day" /> })}
      />
      <div class="pair">
        <div class="stack">
          <Section title={texts.email}>
            <Email key={who.email} />
          </Section>
          <Section title={texts.password}>
            <Password />
          </Section>
          <Section title={texts.zone}>
            <Zone current={who.timezone} />
          </Section>
        </div>
        <div class="stack">
          <SecondFactor />
          <Sessions />
        </div>
      </div>
    </>
  )
}
