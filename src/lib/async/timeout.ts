/** The work did not finish in time. It may still finish later; its outcome is then ignored. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut'
}

/** Settles as `work` does, or rejects after `ms` with the error that `failure` makes (`TimedOut` by default). */
export const withTimeout = async <T>(
  ms: number,
  work: Promise<T>,
  failure: () => Error = () => new TimedOut(`no answer within ${Math.round(ms)} ms`),
): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(failure()), ms)
  })
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer))
}
