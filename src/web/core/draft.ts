import { useState } from 'preact/hooks'
import { type FormState, useForm } from './form.ts'

/** A form with what was entered in it so far. Its fields have the names of the API. */
export interface DraftState<D extends object> extends FormState {
  readonly draft: D
  readonly set: (changes: Partial<D>) => void
  /** Returns what the control of a field gets. */
  readonly field: <K extends keyof D & string>(
    name: K,
  ) => {
    readonly value: D[K]
    readonly onValue: (value: D[K]) => void
    readonly problem: string | undefined
  }
}

export const useDraft = <D extends object>(initial: D): DraftState<D> => {
  const [draft, setDraft] = useState(initial)
  const form = useForm()
  const set = (changes: Partial<D>) => setDraft((before) => ({ ...before, ...changes }))
  return {
    ...form,
    draft,
    set,
    field: (name) => ({
      value: draft[name],
      onValue: (value) => setDraft((before) => ({ ...before, [name]: value })),
      problem: form.problem(name),
    }),
  }
}
