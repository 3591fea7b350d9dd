import type { Context } from 'koa'
import { ran } from '../../lib/async/turns.ts'

/** The parts of a request, in ms. A part that happens several times is added up. */
type Timings = Map<string, number>

const timingsOf = ({ state }: Context) => state['timings'] as Timings | undefined

/** Measures the parts of a request from now on. */
export const startTiming = (ctx: Context) => void (ctx.state['timings'] = new Map() satisfies Timings)

/** Runs a part of a request, and measures it if the request is measured. */
export const timed = async <T>(ctx: Context, part: string, work: () => Promise<T>): Promise<T> => {
  const timings = timingsOf(ctx)
  ran(ctx.res)
  const start = performance.now()
  try {
    return await work()
  } finally {
    ran(ctx.res)
    timings?.set(part, (timings.get(part) ?? 0) + performance.now() - start)
  }
}

/** Sets the header `Server-Timing` of a request that is measured. */
export const setTimings = (ctx: Context) => {
  const timings = timingsOf(ctx)
  if (timings) ctx.set('Server-Timing', [...timings].map(([part, ms]) => `${part};dur=${ms.toFixed(1)}`).join(', '))
}
