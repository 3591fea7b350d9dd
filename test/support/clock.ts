/** Returns a time in the future as the API takes it: `2030-01-31 18:00:00`, in UTC. */
export const inSeconds = (seconds: number) =>
  new Date(Date.now() + seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')

const withClock = async <T>(now: (real: () => number) => number, run: () => Promise<T>): Promise<T> => {
  const RealDate = Date
  const shown = () => now(RealDate.now)
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args: []) => (args.length === 0 ? new target(shown()) : new target(...args)),
    get: (target, name, receiver) => (name === 'now' ? shown : (Reflect.get(target, name, receiver) as unknown)),
  })
  try {
    return await run()
  } finally {
    globalThis.Date = RealDate
  }
}

/**
 * Runs something while the clock of this process is ahead, so that a test need not wait until something expires.
 * Services in this process follow it; timers, PostgreSQL and other processes do not.
 */
export const secondsLater = <T>(seconds: number, run: () => Promise<T>): Promise<T> =>
  withClock((real) => real() + seconds * 1000, run)

/**
 * Runs something while the clock of this process stands still, so that a code of an authenticator app, for example,
 * stays right.
 */
export const atOneMoment = <T>(run: () => Promise<T>): Promise<T> => {
  const moment = Date.now()
  return withClock(() => moment, run)
}

/**
 * Runs something and returns its result with the CPU time of this process in ms, over all threads, which does not
 * depend on other processes.
 */
export const cpuTime = async <T>(run: () => T | Promise<T>) => {
  const start = process.cpuUsage()
  const result = await run()
  const { user, system } = process.cpuUsage(start)
  return { result, ms: (user + system) / 1000 }
}
