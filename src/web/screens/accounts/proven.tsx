import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { t } from '../../core/alltexts.ts'
import { ApiError } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { PasswordField, TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/formdialog.tsx'

interface ProvenProps {
  readonly title: string
  readonly action: string
  /** whether the account has a password: without one, the request asks for a passkey or the issuer itself */
  readonly hasPassword: boolean
  /** Sends what the form asks for, with the password and the code. */
  readonly onSend: (proof: object) => Promise<unknown>
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A form above the page for what cannot be taken back: with the password, and a code where one is needed. */
export const Proven = ({ title, action, hasPassword, onSend, onClose, children }: ProvenProps) => {
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [needsCode, setNeedsCode] = useState(false)
  const form = useForm()
  const texts = t().account
  const submit = async () => {
    try {
      await onSend(hasPassword ? { current_password: password, ...(needsCode && { code }) } : {})
    } catch (error) {
      const isAsked = error instanceof ApiError && error.body['second_factor'] === true
      if (!isAsked || needsCode) throw error
      setNeedsCode(true)
    }
  }
  return (
    <FormDialog
      title={title}
      action={action}
      form={form}
      fields={['current_password', 'code']}
      onSubmit={submit}
      onClose={onClose}
    >
      {children}
      {hasPassword && (
        <PasswordField
          label={texts.currentPassword}
          autocomplete="current-password"
          required
          value={password}
          onValue={setPassword}
          problem={form.problem('current_password')}
        />
      )}
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
