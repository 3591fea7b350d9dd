import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { t } from '../core/texts.ts'
import { Button, IconButton } from './button.tsx'

interface DialogProps {
  readonly title: string
  /** `sheet`: at the side, for long forms */
  readonly as?: 'box' | 'sheet'
  /** a click outside does not close it, because it shows its content only once */
  readonly firm?: boolean
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/**
 * A window above the page. It has the focus until it is closed, which Escape does, too; then the focus returns to where
 * it was.
 */
export const Dialog = ({ title, as = 'box', firm, onClose, children }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const shown = dialog.current
    const before = document.activeElement
    shown?.showModal()
    return () => {
      shown?.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={as}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => event.target === dialog.current && as === 'box' && !firm && onClose()}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <IconButton label={t().actions.close} icon="close" onClick={onClose} />
      </header>
      {children}
    </dialog>
  )
}

interface ConfirmProps {
  readonly title: string
  readonly text: ComponentChildren
  readonly action: string
  readonly onClose: () => void
  readonly onConfirm: () => Promise<unknown>
}

/** Asks before something that cannot be undone easily. */
export const Confirm = ({ title, text, action, onClose, onConfirm }: ConfirmProps) => {
  const [busy, setBusy] = useState(false)
  const confirm = () => {
    setBusy(true)
    void onConfirm().finally(onClose)
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="body">
        <p>{text}</p>
      </div>
      <footer>
        <Button onClick={onClose}>{t().actions.cancel}</Button>
        <Button kind="danger" busy={busy} onClick={confirm}>
          {action}
        </Button>
      </footer>
    </Dialog>
  )
}
