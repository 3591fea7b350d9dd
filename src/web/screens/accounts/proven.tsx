import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { t } from '../../core/alltexts.ts'
import { ApiError } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { PasswordField, TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/formdialog.tsx'

interface ProofOptions {
  /** the name of the password in the request */
  readonly field?: 'password' | 'current_password'
  readonly label?: string
  /** whether the form has a password from the beginning; else it has one once the service asks for it */
  readonly asksPassword: boolean
  /** whether the password is the first field of the form */
  readonly isFirst?: boolean
}

/** The fields of a form that prove who sends it: a password, and a code once the service asks for one. */
export const useProof = (
  form: ReturnType<typeof useForm>,
  { field = 'current_password', label = t().account.currentPassword, asksPassword, isFirst = false }: ProofOptions,
) => {
  const [password, setPassword] = useState(asksPassword ? '' : undefined)
  const [code, setCode] = useState<string | undefined>(undefined)
  /** Sends a request with the proof. Returns undefined where the service asks for more of it. */
  const prove = async <T,>(send: (proof: object) => Promise<T>): Promise<T | undefined> => {
    try {
      return await send({ [field]: password, code })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // that something is needed is no mistake; that it is wrong is one
      if (error.field === field && password === undefined) setPassword('')
      else if (error.body['second_factor'] === true && code === undefined) setCode('')
      else throw error
      return undefined
    }
  }
  const inputs = (
    <>
      {password !== undefined && (
        <PasswordField
          label={label}
          autocomplete="current-password"
          required
          autofocus={isFirst || !asksPassword}
          value={password}
          onValue={setPassword}
          problem={form.problem(field)}
        />
      )}
      {code !== undefined && (
        <TextField
          label={t().account.codeNow}
          name="code"
          autocomplete="one-time-code"
          required
          autofocus
          value={code}
          onValue={setCode}
          problem={form.problem('code')}
        />
      )}
    </>
  )
  return { prove, inputs, fields: [field, 'code'] }
}

interface ProvenProps {
  readonly title: string
  readonly action: string
  /** whether the account has a password: without one, the request asks for a passkey or the issuer itself */
  readonly hasPassword: boolean
  /** Sends what the form asks for, with the password and the code. */
  readonly onSend: (proof: object) => Promise<unknown>
  readonly onClose: () => void
  readonly children?: ComponentChildren
}

/** A form above the page for what cannot be taken back: with the password, and a code where one is needed. */
export const Proven = ({ title, action, hasPassword, onSend, onClose, children }: ProvenProps) => {
  const form = useForm()
  const { prove, inputs, fields } = useProof(form, { asksPassword: hasPassword, isFirst: !children })
  return (
    <FormDialog
      title={title}
      action={action}
      form={form}
      fields={fields}
      onSubmit={() => prove(onSend)}
      onClose={onClose}
    >
      {children}
      {inputs}
    </FormDialog>
  )
}
