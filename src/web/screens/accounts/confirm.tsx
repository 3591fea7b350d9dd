import type { PasskeyList } from '../../../http/accounts/contract/passkey.ts'
import { t } from '../../core/alltexts.ts'
import { get, request } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { overlay } from '../../core/overlay.ts'
import { service } from '../../core/session.ts'
import { fill, loadTexts } from '../../core/texts.ts'
import { sayProblem } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { FormDialog } from '../../parts/formdialog.tsx'
import { goToIssuer } from './identities.tsx'
import { useProof } from './proven.tsx'

interface ConfirmProps {
  /** whether the account has a password */
  readonly hasPassword: boolean
  readonly hasPasskey: boolean
  readonly onClose: (isConfirmed: boolean) => void
}

/** Who comes back from the issuer has lost what was entered, and ten minutes to enter it again. */
const WithIssuer = () => (
  <p>
    <Button writes={false} onClick={() => void goToIssuer('/api/session/confirm/identity').catch(sayProblem)}>
      {fill(t().account.confirmIssuer, { name: service.issuer })}
    </Button>
  </p>
)

const WithPasskey = ({ onClose }: Pick<ConfirmProps, 'onClose'>) => {
  const use = async () => {
    const { askPasskey } = await import('../../core/passkey.ts')
    const passkey = await askPasskey('/api/session/confirm/passkey/begin')
    await request('POST', '/api/session/confirm/passkey', { passkey })
    onClose(true)
  }
  return (
    <p>
      <Button writes={false} onClick={() => void use().catch(sayProblem)}>
        {t().account.confirmPasskey}
      </Button>
    </p>
  )
}

/** For an account without a password. */
const ConfirmOtherwise = ({ hasPasskey, onClose }: Pick<ConfirmProps, 'hasPasskey' | 'onClose'>) => {
  const texts = t().account
  const title = hasPasskey ? texts.confirmPasskey : fill(texts.confirmIssuer, { name: service.issuer })
  return (
    <Dialog title={title} onClose={() => onClose(false)}>
      <div class="body">
        <p>{hasPasskey ? texts.confirmPasskeyText : texts.confirmIssuerText}</p>
        {hasPasskey && <WithPasskey onClose={onClose} />}
        {service.issuer && <WithIssuer />}
      </div>
    </Dialog>
  )
}

const Confirm = ({ hasPassword, hasPasskey, onClose }: ConfirmProps) => {
  const form = useForm()
  const options = { field: 'password', label: t().signIn.password, asksPassword: true, isFirst: true } as const
  const { prove, inputs, fields } = useProof(form, options)
  const texts = t().account
  const submit = () => prove((proof) => request('POST', '/api/session/confirm', proof).then(() => onClose(true)))
  if (!hasPassword) return <ConfirmOtherwise hasPasskey={hasPasskey} onClose={onClose} />
  return (
    <FormDialog
      title={texts.confirm}
      action={texts.confirmed}
      form={form}
      fields={fields}
      onSubmit={submit}
      onClose={() => onClose(false)}
    >
      <p>{texts.confirmText}</p>
      {hasPasskey && <WithPasskey onClose={onClose} />}
      {service.issuer && <WithIssuer />}
      {inputs}
    </FormDialog>
  )
}

let asking: Promise<boolean> | undefined

/**
 * Asks for the password again, and for a code where the account has a second factor. Returns whether they were right.
 * Requests that need it at the same time share one question.
 */
export const confirmPassword = async (): Promise<boolean> => {
  await loadTexts()
  const { data } = await get<PasskeyList>('/api/passkeys')
  const hasPassword = service.passwords && data.password
  asking ??= new Promise<boolean>((resolve) => {
    const close = (isConfirmed: boolean) => {
      overlay.value = undefined
      asking = undefined
      resolve(isConfirmed)
    }
    overlay.value = <Confirm hasPassword={hasPassword} hasPasskey={data.passkeys.length > 0} onClose={close} />
  })
  return asking
}
