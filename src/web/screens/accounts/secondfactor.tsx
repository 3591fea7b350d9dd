import type {
  SecondFactorBegun,
  SecondFactorSecret,
  SecondFactorState,
} from '../../../http/accounts/contract/session.ts'
import { useState } from 'preact/hooks'
import { request } from '../../core/api.ts'
import { csvOf, saveFile } from '../../core/csv.ts'
import { useForm } from '../../core/form.ts'
import { useLoad } from '../../core/load.ts'
import { t } from '../../core/alltexts.ts'
import { counted } from '../../core/texts.ts'
import { say } from '../../core/toasts.ts'
import { Button, CopyButton } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { PasswordField, Problem, TextField } from '../../parts/field.tsx'
import { QrImage } from '../../parts/qrimage.tsx'
import { Section } from '../../parts/section.tsx'
import { Failed, Notice, Skeleton } from '../../parts/states.tsx'

/** The codes are shown only once, so the window stays until the user confirms that they have them. */
const Codes = ({ codes, onClose }: { readonly codes: readonly string[]; readonly onClose: () => void }) => {
  const texts = t().account
  return (
    <>
      <div class="body">
        <Notice kind="warn">{texts.codesText}</Notice>
        <ul class="codes">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
      </div>
      <footer>
        <CopyButton text={codes.join('\n')} label={texts.copyCodes} />
        <Button
          onClick={() =>
            saveFile(
              'recovery-codes.csv',
              csvOf(
                [texts.codes],
                codes.map((code) => [code]),
              ),
            )
          }
        >
          {texts.saveCodes}
        </Button>
        <Button kind="primary" onClick={onClose}>
          {texts.haveCodes}
        </Button>
      </footer>
    </>
  )
}

/** Asks for a code of the current second factor. */
const CodeNow = (props: Pick<Parameters<typeof TextField>[0], 'value' | 'onValue' | 'problem'>) => (
  <TextField label={t().account.codeNow} name="code" autocomplete="one-time-code" required {...props} />
)

const Enable = ({
  secret: { secret, address },
  replaces,
  onClose,
}: {
  readonly secret: SecondFactorSecret
  /** whether there is a second factor already */
  readonly replaces: boolean
  readonly onClose: () => void
}) => {
  const [code, setCode] = useState('')
  const [password, setPassword] = useState('')
  const [codeNow, setCodeNow] = useState('')
  const [codes, setCodes] = useState<readonly string[] | undefined>(undefined)
  const { run, busy, problem } = useForm()
  const texts = t().account
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void run(async () => {
      const body = { secret, code, current_password: password, ...(replaces ? { current_code: codeNow } : {}) }
      const answer = await request<SecondFactorBegun>('POST', '/api/account/totp', body)
      setCodes(answer.recovery_codes)
    })
  }
  if (codes) return <Codes codes={codes} onClose={onClose} />
  return (
    <form onSubmit={submit}>
      <div class="body">
        <p>{texts.scan}</p>
        <div class="totp">
          <QrImage text={address} label={texts.scanLabel} />
          <p class="small">
            {texts.orType}
            <br />
            <code>{secret.match(/.{4}/g)?.join(' ')}</code>
          </p>
        </div>
        <TextField
          label={t().signIn.code}
          hint={t().signIn.codeHint}
          inputMode="numeric"
          autocomplete="one-time-code"
          required
          value={code}
          onValue={setCode}
          problem={problem('code')}
        />
        <PasswordField
          label={texts.currentPassword}
          autocomplete="current-password"
          required
          value={password}
          onValue={setPassword}
          problem={problem('current_password')}
        />
        {replaces && <CodeNow value={codeNow} onValue={setCodeNow} problem={problem('current_code')} />}
        {problem() !== undefined && <Problem>{problem()}</Problem>}
      </div>
      <footer>
        <Button onClick={onClose}>{t().actions.cancel}</Button>
        <Button kind="primary" type="submit" busy={busy}>
          {texts.enable}
        </Button>
      </footer>
    </form>
  )
}

const Disable = ({ onClose }: { readonly onClose: () => void }) => {
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const { run, busy, problem } = useForm()
  const texts = t().account
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void run(async () => {
      await request('POST', '/api/account/totp/delete', { current_password: password, code })
      say(texts.disabled)
      onClose()
    })
  }
  return (
    <form onSubmit={submit}>
      <div class="body">
        <p>{texts.disableText}</p>
        <PasswordField
          label={texts.currentPassword}
          autocomplete="current-password"
          required
          autofocus
          value={password}
          onValue={setPassword}
          problem={problem('current_password') ?? problem()}
        />
        <CodeNow value={code} onValue={setCode} problem={problem('code')} />
      </div>
      <footer>
        <Button onClick={onClose}>{t().actions.cancel}</Button>
        <Button kind="danger" type="submit" busy={busy}>
          {texts.disable}
        </Button>
      </footer>
    </form>
  )
}

/** An authenticator app as a second factor, and the recovery codes that go with it. */
export const SecondFactor = () => {
  const state = useLoad<SecondFactorState>('/api/account/totp')
  const [secret, setSecret] = useState<SecondFactorSecret | undefined>(undefined)
  const [isDisabling, setIsDisabling] = useState(false)
  const { run, busy, problem } = useForm()
  const texts = t().account
  const begin = () => run(async () => setSecret(await request<SecondFactorSecret>('POST', '/api/account/totp/secret')))
  return (
    <Section title={texts.secondFactor}>
      {state.error && <Failed error={state.error} reload={state.reload} />}
      {!state.data && !state.error && <Skeleton rows={2} label={texts.secondFactor} />}
      {state.data && (
        <div class="row-between">
          <p class="quiet">{state.data.data.enabled ? counted(texts.on, state.data.data.recovery_codes) : texts.off}</p>
          <span class="chips">
            <Button writes busy={busy} onClick={() => void begin()}>
              {state.data.data.enabled ? texts.replace : texts.begin}
            </Button>
            {state.data.data.enabled && (
              <Button kind="danger" onClick={() => setIsDisabling(true)}>
                {texts.disable}
              </Button>
            )}
          </span>
        </div>
      )}
      {problem() !== undefined && <Problem>{problem()}</Problem>}
      {secret && (
        <Dialog title={texts.begin} onClose={() => setSecret(undefined)}>
          <Enable secret={secret} replaces={state.data?.data.enabled === true} onClose={() => setSecret(undefined)} />
        </Dialog>
      )}
      {isDisabling && (
        <Dialog title={texts.disable} onClose={() => setIsDisabling(false)}>
          <Disable onClose={() => setIsDisabling(false)} />
        </Dialog>
      )}
    </Section>
  )
}
