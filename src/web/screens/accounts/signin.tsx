import type { Done } from '../../../http/api/contract.ts'
import { useRef, useState } from 'preact/hooks'
import { request } from '../../core/api.ts'
import { service, shortHost } from '../../core/session.ts'
import { fill, t } from '../../core/texts.ts'
import { say } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { PasswordField, Problem, TextField } from '../../parts/field.tsx'
import { Icon, Logo } from '../../parts/icon.tsx'
import { type SignInState, useOffer, useSignIn } from './entering.ts'

const Credentials = ({ state, isNew }: { readonly state: SignInState; readonly isNew: boolean }) => (
  <>
    <TextField
      label={t().signIn.email}
      type="email"
      name="email"
      autocomplete={isNew ? 'username' : 'username webauthn'}
      required
      autofocus
      value={state.email}
      onValue={state.setEmail}
      problem={state.problem('email')}
    />
    <PasswordField
      label={t().signIn.password}
      name="password"
      autocomplete={isNew ? 'new-password' : 'current-password'}
      required
      value={state.password}
      onValue={state.setPassword}
      hint={isNew ? t().signIn.passwordHint : undefined}
      problem={state.problem('password')}
    />
  </>
)

/** The second step, for accounts with a second factor. */
const Code = ({ state }: { readonly state: SignInState }) => {
  const [isRecovery, setIsRecovery] = useState(false)
  const texts = t().signIn
  return (
    <>
      <p class="done-line">
        <span>
          <Icon name="check" />
          <span class="cut" dir="auto">
            {state.email}
          </span>
        </span>
        <button class="text-button small" type="button" onClick={() => void state.back()}>
          {texts.change}
        </button>
      </p>
      <TextField
        key={String(isRecovery)}
        label={isRecovery ? texts.recoveryCode : texts.code}
        name="code"
        autocomplete="one-time-code"
        inputMode={isRecovery ? 'text' : 'numeric'}
        required
        autofocus
        value={state.code}
        onValue={state.setCode}
        hint={isRecovery ? texts.recoveryHint : texts.codeHint}
        problem={state.problem('code')}
      />
      <p class="hint">
        <button class="text-button small" type="button" onClick={() => setIsRecovery(!isRecovery)}>
          {isRecovery ? texts.useApp : texts.useRecovery}
        </button>
      </p>
      <p class="hint">
        <button class="text-button small" type="button" onClick={() => void state.withPasskey()}>
          {texts.usePasskey}
        </button>
      </p>
    </>
  )
}

const Forgotten = ({ state }: { readonly state: SignInState }) => {
  const reset = async () => {
    const { message } = await request<Done>('POST', '/api/account/reset', {
      email: state.email,
    })
    say(message)
  }
  return (
    <p class="hint">
      {t().signIn.forgotten}{' '}
      {service.mail ? (
        <button class="text-button small" type="button" onClick={() => void state.run(reset)}>
          {t().signIn.reset}
        </button>
      ) : (
        t().signIn.askOperator
      )}
    </p>
  )
}

/** Leads to the issuer, which leads back to this screen. */
const WithIssuer = () => (
  <p class="actions">
    <a
      class={`button${service.passwords ? '' : ' primary'}`}
      href={`${service.proxy ? '/account/proxy' : '/oidc/sign-in'}?to=${encodeURIComponent(location.pathname + location.search)}`}
    >
      {fill(t().signIn.withIssuer, { name: service.issuer })}
    </a>
  </p>
)

const WithPasskey = ({ state }: { readonly state: SignInState }) => (
  <p class="actions">
    <Button writes={false} busy={state.busy} onClick={() => void state.withPasskey()}>
      {t().signIn.withPasskey}
    </Button>
  </p>
)

/** Signing in, and the first account. */
export const SignIn = () => {
  const state = useSignIn()
  const [isNew, setIsNew] = useState(service.registration && service.first)
  const form = useRef<HTMLFormElement>(null)
  const texts = t().signIn
  const general = state.problem()
  const isEntering = !isNew && !state.needsCode
  useOffer(state, isEntering)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void state.run(isNew ? state.register : state.enter)
  }
  return (
    <div class="sign-in">
      <header>
        <span class="brand">
          <Logo />
          Linkledger
        </span>
      </header>
      <main id="main">
        <h1>
          {state.needsCode ? texts.enterCode : isNew ? (service.first ? texts.first : texts.signUp) : texts.signIn}
        </h1>
        {service.first && (isNew || !service.registration) && (
          <p>{service.registration ? texts.firstText : texts.firstPrinted}</p>
        )}
        {service.issuer && !state.needsCode && <WithIssuer />}
        {service.passwords && (
          <form ref={form} onSubmit={submit}>
            {state.needsCode ? <Code state={state} /> : <Credentials state={state} isNew={isNew} />}
            {general !== undefined && <Problem>{general}</Problem>}
            <Button kind="primary" type="submit" writes={false} busy={state.busy}>
              {isNew ? texts.create : texts.signIn}
            </Button>
            {!isNew && !state.needsCode && <Forgotten state={state} />}
          </form>
        )}
        {isEntering && <WithPasskey state={state} />}
        {!service.passwords && general !== undefined && <Problem>{general}</Problem>}
      </main>
      <footer>
        <span>{shortHost}</span>
        {service.registration && !state.needsCode && (
          <button class="text-button small" type="button" onClick={() => setIsNew(!isNew)}>
            {isNew ? texts.haveAccount : texts.noAccount}
          </button>
        )}
      </footer>
    </div>
  )
}
