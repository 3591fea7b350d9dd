import type { ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { longTurnMs, watchTurns } from '../../lib/async/turns.ts'
import type { Metrics } from './metrics.ts'

/** Paths of our own programs; all others are what visitors have asked for, and only an alias of them is kept. */
const own = /^\/(?:api|account|docs|report|ui)(?:\/[^?#]{0,256})?(?=[?#]|$)/
const aliasOrPrefix = /^\/[A-Za-z0-9_-]{0,64}(?=[/?#]|$)/

/**
 * Returns the path of a request as the log may have it: without the query, since that of a link in a mail has a token,
 * and of a short address without the rest, which may name a person.
 */
export const loggedPath = (url: string): string => (own.exec(url) ?? aliasOrPrefix.exec(url) ?? ['other'])[0]

const describe = (response: ServerResponse) => {
  const { method, url = '' } = response.req
  const request = response.getHeader('X-Request-Id')
  return { ...(request === undefined ? {} : { request }), method, path: loggedPath(url) }
}

/** Logs and counts turns of the event loop that took too long. Returns what ends that. */
export const watchLongTurns = (log: Logger, { registerCounter }: Pick<Metrics, 'registerCounter'>) => {
  let count = 0
  registerCounter({
    name: 'linkledger_long_turns_total',
    help: `Turns of the event loop of more than ${longTurnMs} ms: everything else in the process waited`,
    read: () => count,
  })
  const stop = watchTurns(({ ms, cpuMs, response }) => {
    count++
    const measured = { ms: Math.round(ms), cpuMs: Math.round(cpuMs) }
    log.warn({ ...measured, ...(response && describe(response)) }, 'a turn of the event loop took too long')
  })
  return async () => stop()
}
