import type { Context } from 'koa'

/**
 * Returns what gives the signal of a request that aborts when its client is gone, or has its answer. There is one,
 * however often it is asked for: an export does so for each page of a list.
 */
export const closingOf = ({ res }: Pick<Context, 'res'>) => {
  let closed: AbortController | undefined
  return () => {
    if (closed) return closed.signal
    const own = (closed = new AbortController())
    if (res.writableEnded || res.closed) own.abort()
    else res.once('close', () => own.abort())
    return own.signal
  }
}
