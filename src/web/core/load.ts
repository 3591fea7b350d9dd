import { useEffect, useState } from 'preact/hooks'
import { ApiError, changes, get } from './api.ts'
import { pathAt } from './past.ts'

/** The state of data that a screen loads. */
export interface Loaded<T> {
  readonly data: T | undefined
  readonly error: ApiError | undefined
  readonly loading: boolean
  readonly reload: () => void
}

/** The last answers, so that a screen that was seen before is there at once, and then brought up to date. */
const answers = new Map<string, unknown>()
const mostAnswers = 100

const remember = (path: string, answer: unknown) => {
  answers.delete(path)
  answers.set(path, answer)
  const [oldest] = answers.keys()
  if (answers.size > mostAnswers && oldest !== undefined) answers.delete(oldest)
}

/** Forgets all answers: they belong to the account that was signed in. */
export const forgetAnswers = (): void => answers.clear()

const withoutQuery = (path: string | undefined) => path?.split('?')[0]

/**
 * Reads a path of the API, again after every change, and when the window is shown again. While another query of the
 * same path is loaded, the data of the last one stays, so that nothing moves. Without a path, nothing is read. In the
 * past, the answer is the one of then, unless `ofNow` is set.
 */
export const useLoad = <T>(wanted: string | undefined, { ofNow = false } = {}): Loaded<T> => {
  const path = wanted === undefined || ofNow ? wanted : pathAt(wanted)
  const [state, setState] = useState<{ path: string | undefined; data: T | undefined; error: ApiError | undefined }>({
    path: undefined,
    data: undefined,
    error: undefined,
  })
  const [loading, setLoading] = useState(false)
  const [tries, setTries] = useState(0)
  const seen = changes.value

  useEffect(() => {
    if (path === undefined) return undefined
    // what was then does not change
    if (path !== wanted && tries === 0 && answers.has(path)) {
      setState({ path, data: answers.get(path) as T, error: undefined })
      setLoading(false)
      return undefined
    }
    const stop = new AbortController()
    setLoading(true)
    get<T>(path, stop.signal).then(
      (data) => {
        remember(path, data)
        setState({ path, data, error: undefined })
        setLoading(false)
      },
      (error: unknown) => {
        if (stop.signal.aborted) return
        setState((before) => ({ ...before, path, error: error instanceof ApiError ? error : undefined }))
        setLoading(false)
      },
    )
    return () => stop.abort()
  }, [path, tries, seen])

  useEffect(() => {
    const onShown = () => document.visibilityState === 'visible' && setTries((n) => n + 1)
    document.addEventListener('visibilitychange', onShown)
    return () => document.removeEventListener('visibilitychange', onShown)
  }, [])

  const isCurrent = state.path === path
  const known = path === undefined ? undefined : (answers.get(path) as T | undefined)
  const stays = withoutQuery(state.path) === withoutQuery(path) ? state.data : undefined
  return {
    data: isCurrent ? state.data : (known ?? stays),
    error: isCurrent ? state.error : undefined,
    loading: loading || !isCurrent,
    reload: () => setTries((n) => n + 1),
  }
}
