import type { Updated } from '../../../http/api/contract.ts'
import { useState } from 'preact/hooks'
import { request } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { useLoad } from '../../core/load.ts'
import { account, service } from '../../core/session.ts'
import { t } from '../../core/alltexts.ts'
import { fill } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { say } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { PasswordField, Problem, TextField } from '../../parts/field.tsx'
import { Head, Section } from '../../parts/section.tsx'
import { Skeleton } from '../../parts/states.tsx'
import type { PasskeyList } from '../../../http/accounts/contract/passkey.ts'
import type { IdentityList } from '../../../http/accounts/contract/identity.ts'
import { Passkeys } from './passkeys.tsx'
import { Identities } from './identities.tsx'
import { Sessions } from './sessions.tsx'
import { OwnAccount, Teams } from './teams.tsx'
import { SecondFactor } from './secondfactor.tsx'
import { Zone } from './zone.tsx'
import { filled, When } from '../../parts/when.tsx'

const change = async (body: object) => {
  const { message } = await request<Updated>('PUT', '/api/account/update', body)
  say(message)
}

interface OfAccount {
  /** whether the account has a password: without one, the issuer is asked again */
  readonly hasPassword: boolean
}
/** What a change is sent with besides itself. */
const proofOf = ({ hasPassword }: OfAccount, current: string) => (hasPassword ? { current_password: current } : {})

const Email = (of: OfAccount) => {
  const [email, setEmail] = useState(account.value?.email ?? '')
  const [current, setCurrent] = useState('')
  const { run, busy, problem } = useForm()
  const texts = t().account
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void run(async () => {
      await change({ email, ...proofOf(of, current) })
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
          {of.hasPassword ? (
            <PasswordField
              label={texts.currentPassword}
              autocomplete="current-password"
              required
              value={current}
              onValue={setCurrent}
              hint={texts.whyPassword}
              problem={problem('current_password') ?? problem()}
            />
          ) : (
            problem() !== undefined && <Problem>{problem()}</Problem>
          )}
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

const Password = (of: OfAccount) => {
  const [password, setPassword] = useState('')
  const [current, setCurrent] = useState('')
  const texts = t().account
  const { run, busy, problem } = useForm()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void run(async () => {
      await change({ password, ...proofOf(of, current) })
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
      {of.hasPassword ? (
        <PasswordField
          label={texts.currentPassword}
          autocomplete="current-password"
          required
          value={current}
          onValue={setCurrent}
          problem={problem('current_password')}
        />
      ) : (
        <p>{service.issuer ? fill(texts.noPassword, { name: service.issuer }) : texts.noPasswordPasskey}</p>
      )}
      {problem() !== undefined && <Problem>{problem()}</Problem>}
      <div>
        <Button type="submit" busy={busy}>
          {texts.changePassword}
        </Button>
      </div>
    </form>
  )
}

/** The account: its address, its password, its second factor, and where it is signed in. */
export const AccountScreen = () => {
  const texts = t().account
  const who = account.value
  const list = useLoad<IdentityList>(service.issuer ? '/api/identities' : undefined)
  const passkeys = useLoad<PasskeyList>('/api/passkeys')
  const hasPassword = service.passwords && (passkeys.data?.data.password ?? true)
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
            <Email key={who.email} hasPassword={hasPassword} />
          </Section>
          {service.passwords && (
            <Section title={texts.password}>
              <Password hasPassword={hasPassword} />
            </Section>
          )}
          <Section title={texts.zone}>
            <Zone current={who.timezone} />
          </Section>
        </div>
        <div class="stack">
          {passkeys.data && <Passkeys list={passkeys.data.data} />}
          {list.data && <Identities list={list.data.data} />}
          {service.passwords && hasPassword && <SecondFactor />}
          <Sessions />
          <Teams hasPassword={hasPassword} />
          <OwnAccount hasPassword={hasPassword} />
        </div>
      </div>
    </>
  )
}
