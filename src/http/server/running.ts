import type { Server, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** Running work of handlers, by their server and by each response. */
const running = new WeakMap<Server | ServerResponse, Set<Promise<unknown>>>()

/** Tracks the work of a server's handlers. */
export const trackHandlers = (server: Server) => {
  const works = new Set<Promise<unknown>>()
  running.set(server, works)
  server.on('request', (_, response: ServerResponse) => void running.set(response, works))
}

/** Tracks work for a response. The server waits for it when it closes, even if the client is gone. */
export const keepOpenFor = (response: ServerResponse, work: unknown) => {
  const works = running.get(response)
  if (!works || !(work instanceof Promise)) return
  const ended = () => void works.delete(work)
  works.add(work)
  work.then(ended, ended)
}

/** Resolves when no handler of the server runs any more, after `ms` at the latest. */
export const handlersEnded = async (server: Server, ms: number) => {
  const works = running.get(server) ?? new Set()
  const late = new AbortController()
  const timeout = sleep(ms, true, { signal: late.signal }).catch(() => true)
  let isLate: unknown = false
  // a handler that ends may have started more work
  while (works.size > 0 && isLate !== true) isLate = await Promise.race([timeout, Promise.allSettled(works)])
  late.abort()
}
