/** Knows since when work that repeats has failed, for `/readyz`. */
export interface Standstill {
  readonly failed: (error: unknown) => void
  readonly worked: () => void
  readonly problem: () => string | undefined
}

/** `what` says what is not done meanwhile. */
export const createStandstill = (what: string, now: () => number = Date.now): Standstill => {
  let state: { readonly since: Date; readonly why: string } | undefined
  return {
    failed: (error) => {
      state = { since: state?.since ?? new Date(now()), why: error instanceof Error ? error.message : String(error) }
    },
    worked: () => {
      state = undefined
    },
    problem: () => state && `${what} since ${state.since.toISOString()}: ${state.why}`,
  }
}
