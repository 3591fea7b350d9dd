import { useState } from 'preact/hooks'
import { ApiError } from './api.ts'

/**
 * Returns what a request found wrong with one of these fields, as the API names them; `undefined` stands for none of
 * its fields.
 */
export const problemOf = (
  error: ApiError | undefined,
  ...fields: readonly (string | undefined)[]
): string | undefined => (error && fields.includes(error.field) ? error.words : undefined)

/** What a form knows of its last request. */
export interface FormState {
  readonly busy: boolean
  readonly error: ApiError | undefined
  /**
   * Returns what is wrong with a field, by the name that it has in the API; without a name, what is wrong with none of
   * them.
   */
  readonly problem: (field?: string) => string | undefined
  /** Does the work of the form. A request that the service refuses is shown at its field. */
  readonly run: (work: () => Promise<unknown>) => Promise<void>
}

export const useForm = (): FormState => {
  const [error, setError] = useState<ApiError | undefined>(undefined)
  const [busy, setBusy] = useState(false)
  const run = async (work: () => Promise<unknown>) => {
    setBusy(true)
    setError(undefined)
    try {
      await work()
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem
      setError(problem)
    } finally {
      setBusy(false)
    }
  }
  return {
    busy,
    error,
    problem: (field) => problemOf(error, field),
    run,
  }
}
