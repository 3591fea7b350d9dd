import { NotReady, reasonOf } from '../../lib/unavailable.ts'

/** Knows since when work that repeats has failed. */
export interface Standstill {
  readonly failed: (error: unknown) => void
  readonly worked: () => void
  /** Returns the same work, which has failed when it throws, and worked when it ends and nothing else has failed. */
  readonly watching: <T>(work: () => Promise<T>) => () => Promise<T>
  /** Returns a function that notes a failure and passes it on, unless tables are being filled for the first time. */
  readonly telling: <A extends readonly unknown[]>(
    next: (error: unknown, ...rest: A) => void,
  ) => (error: unknown, ...rest: A) => void
  readonly problem: () => string | undefined
  /** seconds since it fails, 0 while it works */
  readonly seconds: () => number
}

/** `what` says what is not done meanwhile. */
export const createStandstill = (what: string, now: () => number = Date.now): Standstill => {
  let state: { readonly since: Date; readonly why: string } | undefined
  let failures = 0
  const worked = () => {
    state = undefined
  }
  const failed = (error: unknown) => {
    // it is a separate problem
    if (error instanceof NotReady) return
    failures++
    state = { since: state?.since ?? new Date(now()), why: reasonOf(error) }
  }
  return {
    failed,
    worked,
    watching: (work) => async () => {
      const before = failures
      try {
        const done = await work()
        if (failures === before) worked()
        return done
      } catch (error) {
        failed(error)
        throw error
      }
    },
    telling:
      (next) =>
      (error, ...rest) => {
        if (error instanceof NotReady) return
        failed(error)
        next(error, ...rest)
      },
    problem: () => state && `${what} since ${state.since.toISOString()}: ${state.why}`,
    seconds: () => (state ? Math.max(0, now() - state.since.getTime()) / 1000 : 0),
  }
}

/** The work of a process that repeats, by name, for `/readyz` and metrics. */
export interface Jobs {
  readonly open: (name: string, what: string) => Standstill
  readonly problems: () => readonly string[]
  readonly seconds: () => Readonly<Record<string, number>>
}

export const createJobs = (): Jobs => {
  const jobs = new Map<string, Standstill>()
  return {
    open: (name, what) => {
      const job = createStandstill(what)
      jobs.set(name, job)
      return job
    },
    problems: () => [...jobs.values()].flatMap(({ problem }) => problem() ?? []),
    seconds: () => Object.fromEntries([...jobs].map(([name, { seconds }]) => [name, seconds()])),
  }
}
