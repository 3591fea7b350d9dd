import { effect, signal } from '@preact/signals'
import { ApiError, proposed } from './api.ts'
import { fill, t } from './texts.ts'

/** A short message at the foot of the page. */
export interface Toast {
  readonly id: number
  readonly text: string
  /** whether something failed: the message stays until it is closed */
  readonly failed: boolean
  readonly action?: { readonly label: string; readonly run: () => void } | undefined
}

export const toasts = signal<readonly Toast[]>([])
let last = 0

/** ms that a message stays; a button needs time to be found */
const stay = (toast: Pick<Toast, 'action'>) => (toast.action ? 10_000 : 4000)

export const closeToast = (id: number): void => {
  toasts.value = toasts.value.filter((one) => one.id !== id)
}

/**
 * when the page reported that a change waits: the next message of its form, that the change is stored, would be wrong
 */
let waitsSince = -Infinity
const holdBackMs = 1000

/** Shows a message in place of the one before. */
export const say = (text: string, { failed = false, action }: Partial<Pick<Toast, 'failed' | 'action'>> = {}): void => {
  if (!failed && performance.now() - waitsSince < holdBackMs) return
  const toast = { id: ++last, text, failed, action }
  toasts.value = [toast]
  if (!failed) setTimeout(() => closeToast(toast.id), stay(toast))
}

effect(() => {
  if (proposed.value === 0) return
  say(t().toasts.waits)
  waitsSince = performance.now()
})

/** A change that is shown before it is stored. */
export interface Attempt {
  /** Shows the change. Returns a function that reverts it. */
  readonly apply: () => () => void
  readonly send: () => Promise<unknown>
  /** what was done, in words */
  readonly done?: string
  /** what the change was about, for the message that it was reverted */
  readonly what: string
  /** Reverses the change once it is stored. */
  readonly undo?: (() => Promise<unknown>) | undefined
}

/** Shows a change at once, and reverts it with a message when it cannot be stored. */
export const attempt = async (change: Attempt): Promise<boolean> => {
  const { apply, send, done, what, undo } = change
  const takeBack = apply()
  const before = proposed.peek()
  try {
    await send()
    if (proposed.peek() !== before) {
      takeBack()
      return false
    }
  } catch (error) {
    takeBack()
    const reason = error instanceof ApiError ? error.message : t().errors.unknown
    say(fill(t().toasts.takenBack, { what, reason }), {
      failed: true,
      action: { label: t().actions.again, run: () => void attempt(change) },
    })
    return false
  }
  const again = undo && { label: t().actions.undo, run: () => void undo().catch(sayProblem) }
  if (done !== undefined) say(done, { action: again })
  return true
}

/** Shows why something failed. */
export const sayProblem = (error: unknown): void =>
  say(error instanceof ApiError ? error.message : t().errors.unknown, { failed: true })
