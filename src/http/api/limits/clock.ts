import type { Context } from 'koa'
import { Unavailable } from '../../../lib/unavailable.ts'

interface Clock {
  readonly start: () => void
  readonly stop: () => void
}
const clocks = new WeakMap<Context['req'], Clock>()

/** Settles as the work of a request does, or fails with 503 when its clock has run for `ms`. */
export const withinTime = async <T>({ req }: Pick<Context, 'req'>, ms: number, work: () => Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const stop = () => clearTimeout(timer)
  const isOver = new Promise<never>((_, reject) => {
    const start = () => {
      stop()
      timer = setTimeout(() => reject(new Unavailable(`no response within ${ms} ms`)), ms)
    }
    clocks.set(req, { start, stop })
    start()
  })
  return Promise.race([work(), isOver]).finally(() => {
    clocks.delete(req)
    stop()
  })
}

/** Stops the clock of a request while something else limits its work. It runs from the beginning after that. */
export const withoutClock = async <T>({ req }: Pick<Context, 'req'>, work: () => Promise<T>): Promise<T> => {
  clocks.get(req)?.stop()
  try {
    return await work()
  } finally {
    clocks.get(req)?.start()
  }
}
