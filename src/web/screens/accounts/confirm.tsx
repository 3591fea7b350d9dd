import { useState } from 'preact/hooks'
import { t } from '../../core/alltexts.ts'
import { ApiError, request } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { overlay } from '../../core/overlay.ts'
import { loadTexts } from '../../core/texts.ts'
import { PasswordField, TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/formdialog.tsx'

const Confirm = ({ onClose }: { readonly onClose: (isConfirmed: boolean) => void }) => {
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [needsCode, setNeedsCode] = useState(false)
  const form = useForm()
  const texts = t().account
  const submit = async () => {
    try {
      await request('POST', '/api/session/confirm', { password, ...(needsCode ? { code } : {}) })
      onClose(true)
    } catch (error) {
      const isAsked = error instanceof ApiError && error.body['second_factor'] === true
      // that a code is needed is no mistake; that it is wrong is one
      if (!isAsked || needsCode) throw error
      setNeedsCode(true)
    }
  }
  return (
    <FormDialog
      title={texts.confirm}
      action={texts.confirmed}
      form={form}
      fields={['password', 'code']}
      onSubmit={submit}
      onClose={() => onClose(false)}
    >
      <p>{texts.confirmText}</p>
      <PasswordField
        label={t().signIn.password}
        autocomplete="current-password"
        required
        autofocus
        value={password}
        onValue={setPassword}
        problem={form.problem('password')}
      />
      {needsCode && (
        <TextField
          label={texts.codeNow}
          name="code"
          autocomplete="one-time-code"
          required
          autofocus
          value={code}
          onValue={setCode}
          problem={form.problem('code')}
        />
      )}
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
  asking ??= new Promise<boolean>((resolve) => {
    const close = (isConfirmed: boolean) => {
      overlay.value = undefined
      asking = undefined
      resolve(isConfirmed)
    }
    overlay.value = <Confirm onClose={close} />
  })
  return asking
}
