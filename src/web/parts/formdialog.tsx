import type { ComponentChildren } from 'preact'
import type { FormState } from '../core/form.ts'
import { t } from '../core/texts.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Problem } from './field.tsx'

interface FormDialogProps {
  readonly title: string
  /** what the button says */
  readonly action: string
  readonly form: FormState
  /** the names of its fields in the API: a problem with another one is shown at the foot */
  readonly fields: readonly string[]
  readonly onSubmit: () => Promise<unknown>
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A small form above the page. It stays open until the request has succeeded. */
export const FormDialog = ({ title, action, form, fields, onSubmit, onClose, children }: FormDialogProps) => {
  const { error, busy, run } = form
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void run(onSubmit)
        }}
      >
        <div class="body">
          {children}
          {error && !(error.field !== undefined && fields.includes(error.field)) && <Problem>{error.message}</Problem>}
        </div>
        <footer>
          <Button onClick={onClose}>{t().actions.cancel}</Button>
          <Button kind="primary" type="submit" busy={busy}>
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
