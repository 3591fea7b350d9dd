import { useRef, useState } from 'preact/hooks'
import { ApiError, request } from '../core/api.ts'
import { useForm } from '../core/form.ts'
import { service, shortHost, signIn } from '../core/session.ts'
import { t } from '../core/texts.ts'
import { say } from '../core/toasts.ts'
import { Button } from '../parts/button.tsx'
import { PasswordField, Problem, TextField } from '../parts/field.tsx'
import { Icon, Logo } from '../parts/icon.tsx'

/** What is entered, and what became of it. */
const useDoor = () => {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [needsCode, setNeedsCode] = useState(false)
  const { busy, problem, run } = useForm()
  const enter = async () => {
    try {
      await signIn({ email, password, ...(needsCode ? { code } : {}) })
    } catch (error) {
      const isAsked = error instanceof ApiError && error.body['second_factor'] === true
      // that a code is needed is no mistake; that it is wrong is one
      if (!isAsked || needsCode) throw error
      setNeedsCode(true)
    }
  }
  const register = async () => {
    const made = await request<{ readonly message?: string }>('POST', '/register', { email, password })
    // where the service sends mail, the account begins with the link in it
    if (made.message !== undefined) say(made.message)
    else await enter()
  }
  const back = () =>
    run(async () => {
      setNeedsCode(false)
      setCode('')
    })
  return { email, setEmail, password, setPassword, code, setCode, needsCode, problem, busy, run, enter, register, back }
}
type DoorState = ReturnType<typeof useDoor>

const Credentials = ({ door, isNew }: { readonly door: DoorState; readonly isNew: boolean }) => (
  <>
    <TextField
      label={t().door.email}
      type="email"
      name="email"
      autocomplete="username"
      required
      autofocus
      value={door.email}
      onValue={door.setEmail}
      problem={door.problem('email')}
    />
    <PasswordField
      label={t().door.password}
      name="password"
      autocomplete={isNew ? 'new-password' : 'current-password'}
      required
      value={door.password}
      onValue={door.setPassword}
      hint={isNew ? t().door.passwordHint : undefined}
      problem={door.problem('password')}
    />
  </>
)

/** The second step, for accounts with a second factor. */
const Code = ({ door }: { readonly door: DoorState }) => {
  const [isRecovery, setIsRecovery] = useState(false)
  const texts = t().door
  return (
    <>
      <p class="done-line">
        <span>
          <Icon name="check" />
          <span class="cut" dir="auto">
            {door.email}
          </span>
        </span>
        <button class="text-button small" type="button" onClick={() => void door.back()}>
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
        value={door.code}
        onValue={door.setCode}
        hint={isRecovery ? texts.recoveryHint : texts.codeHint}
        problem={door.problem('code')}
      />
      <p class="hint">
        <button class="text-button small" type="button" onClick={() => setIsRecovery(!isRecovery)}>
          {isRecovery ? texts.useApp : texts.useRecovery}
        </button>
      </p>
    </>
  )
}

const Forgotten = ({ door }: { readonly door: DoorState }) => {
  const reset = async () => {
    const { message } = await request<{ readonly message: string }>('POST', '/api/account/reset', { email: door.email })
    say(message)
  }
  return (
    <p class="hint">
      {t().door.forgotten}{' '}
      {service.mail ? (
        <button class="text-button small" type="button" onClick={() => void door.run(reset)}>
          {t().door.reset}
        </button>
      ) : (
        t().door.askOperator
      )}
    </p>
  )
}

/** Signing in, and the first account. */
export const Door = () => {
  const door = useDoor()
  const [isNew, setIsNew] = useState(service.registration && service.first)
  const form = useRef<HTMLFormElement>(null)
  const texts = t().door
  const general = door.problem()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void door.run(isNew ? door.register : door.enter)
  }
  return (
    <div class="door">
      <header>
        <span class="brand">
          <Logo />
          Linkledger
        </span>
      </header>
      <main id="main">
        <h1>
          {door.needsCode ? texts.enterCode : isNew ? (service.first ? texts.first : texts.signUp) : texts.signIn}
        </h1>
        {service.first && (isNew || !service.registration) && (
          <p>{service.registration ? texts.firstText : texts.firstPrinted}</p>
        )}
        <form ref={form} onSubmit={submit}>
          {door.needsCode ? <Code door={door} /> : <Credentials door={door} isNew={isNew} />}
          {general !== undefined && <Problem>{general}</Problem>}
          <Button kind="primary" type="submit" writes={false} busy={door.busy}>
            {isNew ? texts.create : texts.signIn}
          </Button>
          {!isNew && !door.needsCode && <Forgotten door={door} />}
        </form>
      </main>
      <footer>
        <span>{shortHost}</span>
        {service.registration && !door.needsCode && (
          <button class="text-button small" type="button" onClick={() => setIsNew(!isNew)}>
            {isNew ? texts.haveAccount : texts.noAccount}
          </button>
        )}
      </footer>
    </div>
  )
}
