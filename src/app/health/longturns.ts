import type { ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { longTurnMs, watchTurns } from '../../lib/async/turns.ts'
import type { Metrics } from './metrics.ts'

/** The query is left out: that of a link in a mail has a token. */
const describe = (response: ServerResponse) => {
  const { method, url = '' } = response.req
  const request = response.getHeader('X-Request-Id')
  return { ...(request === undefined ? {} : { request }), method, path: url.split(/[?#]/, 1)[0]?.slice(0, 256) }
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
