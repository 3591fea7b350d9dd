import type { IncomingMessage, Server } from 'node:http'

/** ms in which the body of a request must have arrived, or as much of it as `renewed` needs */
const arrival = 30_000
/** bytes that renew the time: fewer of them count as none, or one connection could stay for months */
const enough = 4096

const timers = new WeakMap<IncomingMessage, NodeJS.Timeout>()

const hasBody = ({ headers }: IncomingMessage) => 'transfer-encoding' in headers || 'content-length' in headers

/** What Node would report of a request that takes longer than its `requestTimeout`, which no request can lengthen. */
const late = () => Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

/** Reports requests whose bodies do not arrive in time as `clientError`, also when their answers have been sent. */
export const limitArrival = (server: Server, ms = arrival): void => {
  server.on('request', (req: IncomingMessage) => {
    if (!hasBody(req)) return
    const { socket } = req
    const report = () => {
      if (!req.complete && !socket.destroyed) server.emit('clientError', late(), socket)
    }
    const timer = setTimeout(report, ms).unref()
    timers.set(req, timer)
    req.once('close', () => clearTimeout(timer))
  })
}

/**
 * Returns what is called with the bytes of a body that come: it may then take any time as a whole, as long as there are
 * some of them within the time of other bodies.
 */
export const renewed = (req: IncomingMessage): ((bytes: number) => void) => {
  let come = 0
  return (bytes) => {
    come += bytes
    if (come < enough) return
    come = 0
    timers.get(req)?.refresh()
  }
}
