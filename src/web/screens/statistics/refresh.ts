import { useEffect, useRef } from 'preact/hooks'
import type { Loaded } from '../../core/load.ts'

/** ms between two looks, and until figures are read again without clicks */
const [look, longest] = [1000, 60_000]
/** Figures are read for at most this part of the time: filters over many clicks keep the service busy. */
const part = 0.1

/** Returns a function that has figures read again soon. How soon depends on how long the last answer took. */
export const useRefresh = (loaded: Loaded<unknown>): (() => void) => {
  const latest = useRef(loaded)
  // what was loaded before this began took no time that is known
  const state = useRef({ wanted: false, began: Date.now(), ended: 0, took: 0 })
  latest.current = loaded
  useEffect(() => {
    const { current } = state
    if (loaded.loading) {
      current.began = Date.now()
      return
    }
    current.ended = Date.now()
    current.took = current.ended - current.began
  }, [loaded.loading])
  useEffect(() => {
    const timer = setInterval(() => {
      const { current } = state
      const rested = Date.now() - current.ended
      if (latest.current.loading || document.visibilityState === 'hidden') return
      if (rested < longest && (!current.wanted || rested < Math.max(look, current.took / part))) return
      current.wanted = false
      latest.current.reload()
    }, look)
    return () => clearInterval(timer)
  }, [])
  return () => {
    state.current.wanted = true
  }
}
