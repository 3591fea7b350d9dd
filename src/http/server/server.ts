import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { TrustedProxies } from '../../lib/address.ts'
import { answerOf, Failure } from '../api/errors.ts'
import { cutHeaders } from '../../lib/strangers.ts'
import { begins, ran } from '../../lib/async/turns.ts'
import { problem } from '../../lib/problems/problem.ts'
import { limitArrival } from './arrival.ts'
import { handlersEnded, keepOpenFor, trackHandlers } from './running.ts'
import { limitUnderWay, requestsUnderWay } from './underway.ts'
import { limitUnread } from './unread.ts'

type Handler = (req: IncomingMessage, res: ServerResponse) => unknown

/** What a process with the role http serves. */
export interface Site {
  readonly api: Handler
  readonly redirect: Handler
  /** public addresses that are not a link's, by the first part of their path: `/r/` */
  readonly below: Readonly<Record<string, Handler>>
  /** pages of the service, by their whole path: `/report` */
  readonly at?: Readonly<Record<string, Handler>>
  /** Whether a path belongs to a link rather than to the service, on the host of a request. */
  readonly isOfLink?: (req: IncomingMessage, path: string) => boolean
}
export interface ServerOptions extends Site {
  /** by path: `/healthz`, `/readyz` */
  readonly probes: Readonly<Record<string, () => { readonly status: number; readonly body: object }>>
}

const isApi = /^\/(?:api|register)(?:[/?]|$)/
const firstPart = /^\/(?:\.well-known|[a-z]+)\//

/**
 * Returns a server without handlers: they need its port, which is known once it listens. A connection without a request
 * is closed after `keepAlive` s.
 */
export const createHttpServer = (keepAlive = 10, trustProxy: TrustedProxies = 0): Server => {
  const server = createServer({
    ServerResponse: limitUnread({ trustProxy }),
    maxHeaderSize: 16 * 1024,
    headersTimeout: 10_000,
    // `limitArrival` has one for each request
    requestTimeout: 0,
    keepAliveTimeout: keepAlive * 1000,
    connectionsCheckingInterval: 2000,
    // `serve` refuses a request without it, and Node would without a body
    requireHostHeader: false,
  })
  server.maxConnections = 10_000
  // of a connection that neither sends nor reads: a response that is not read never ends
  server.timeout = 60_000
  server.on('clientError', refuse)
  server.on('checkExpectation', (_: IncomingMessage, res: ServerResponse) => refuseRequest(res, 417, 'expectation'))
  server.on('request', (req: IncomingMessage) => {
    nameHost(req)
    cutHeaders(req.headers)
  })
  limitArrival(server)
  limitUnderWay(server)
  trackHandlers(server)
  return server
}

/** Closes the connections on which no response is under way, also those whose client is still sending a request. */
const closeUnused = (server: Server) => {
  for (const [socket, requests] of requestsUnderWay(server)) {
    if (requests > 0 || socket.writableLength > 0) continue
    // a client that still sends may not have read its response: destroying the socket at once would discard it
    if (socket.writableEnded) socket.destroy()
    else socket.end()
  }
}

/** Returns the path and query of a request, which may name the whole address (RFC 9112, 3.2.2). */
const pathOf = ({ url = '' }: IncomingMessage) =>
  url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*\/?/i, '/')

/**
 * Leaves one spelling of the host that a request names: that of its whole address, where it names one, in place of
 * `Host` (RFC 9112, 3.2.2), and no port that is empty (RFC 3986, 3.2.3).
 */
const nameHost = ({ headers, url = '' }: IncomingMessage) => {
  const host = /^https?:\/\/(?:[^/?#@]*@)?([^/?#]*)/i.exec(url)?.[1] ?? headers.host
  if (host !== undefined) headers.host = host.replace(/:$/, '')
}

/** Returns a path without its query and a slash at its end. */
const pageAt = (path: string) => {
  const end = path.indexOf('?')
  const page = end < 0 ? path : path.slice(0, end)
  return page.endsWith('/') ? page.slice(0, -1) : page
}

/**
 * Whether a request has not the one `Host` header that it must have: a proxy may take another one of two than Node
 * does. HTTP/1.0 has none.
 */
const lacksHost = ({ httpVersion, rawHeaders }: IncomingMessage) => {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') hosts++
  return hosts > 1 || (hosts === 0 && httpVersion !== '1.0')
}
/** Refuses a request, and closes the connection: what follows may be its body, or meant for another host. */
const refuseRequest = (res: ServerResponse, status: 400 | 417, what: 'hosts' | 'expectation') => {
  res.setHeader('Connection', 'close')
  answerFailure(res, new Failure(status, problem('bad_request', { what })))
}

/** Passes the requests of the API to Koa and all others to plain handlers: a redirect does not need Koa. */
export const serve = (server: Server, { api, redirect, below, at = {}, isOfLink, probes }: ServerOptions) => {
  // looking up names that are all different is slower in an object
  const probeAt = new Map(Object.entries(probes))
  const handlerBelow = new Map(Object.entries(below))
  const handlerAt = new Map(Object.entries(at))
  const answer: Handler = (req, res) => {
    if (lacksHost(req)) return refuseRequest(res, 400, 'hosts')
    const path = pathOf(req)
    req.url = path
    if (isOfLink?.(req, path)) return redirect(req, res)
    if (isApi.test(path)) return api(req, res)
    const probe = probeAt.get(path)
    if (probe) return answerProbe(res, probe())
    const handle = handlerBelow.get(firstPart.exec(path)?.[0] ?? '') ?? handlerAt.get(pageAt(path)) ?? redirect
    return handle(req, res)
  }
  return server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    // what has arrived together with too much
    if (req.socket.destroyed) return
    begins(res)
    const answered = answer(req, res)
    keepOpenFor(res, answered)
    const pause = () => ran(res)
    pause()
    if (answered instanceof Promise) void answered.then(pause, pause)
  })
}

/** Calls `report` for the first request that names a client in `X-Forwarded-For`, and never again. */
export const onForwarded = (server: Server, report: () => void) => {
  const look = ({ headers }: IncomingMessage) => {
    if (headers['x-forwarded-for'] === undefined) return
    server.off('request', look)
    report()
  }
  server.on('request', look)
}

/**
 * Calls `report` with the host of the first request that came to another host than this service expects, and never
 * again.
 */
export const onOtherHost = (server: Server, isExpected: (host: string) => boolean, report: (host: string) => void) => {
  const look = ({ headers: { host } }: IncomingMessage) => {
    if (host === undefined || isExpected(host)) return
    server.off('request', look)
    report(host)
  }
  server.on('request', look)
}

const answerProbe = (res: ServerResponse, { status, body }: { status: number; body: object }) => {
  res.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' })
  res.end(JSON.stringify(body))
}

const answerFailure = (res: ServerResponse, failure: Failure) =>
  answerProbe(res, { status: failure.status, body: answerOf(failure) })

/** Responds for a process without the role http. */
export const nothingHere: Handler = (_, res) =>
  answerFailure(res, new Failure(404, problem('not_found', { what: 'role' })))

/** ms that a client has to read the answer to a request that could not be read; it may go on sending for ever */
const lingering = 1000

const unreadable = (isLarge: boolean, isLate: boolean): Failure => {
  if (isLarge) return new Failure(431, problem('bad_request', { what: 'headers' }))
  return isLate
    ? new Failure(408, problem('bad_request', { what: 'timeout' }))
    : new Failure(400, problem('bad_request'))
}

/**
 * A request that Node could not read still gets an answer in our form. Then the connection is closed, also when the
 * client keeps its half open.
 */
const refuse = (error: NodeJS.ErrnoException, socket: Socket) => {
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  // browsers open connections in advance: an answer could cross a request that is just being sent, and look like its
  // answer
  const isUnused = isLate && socket.bytesRead === 0
  if (!socket.writable || isUnused || error.code === 'ECONNRESET') return socket.destroy()
  const failure = unreadable(error.code === 'HPE_HEADER_OVERFLOW', isLate)
  const { status } = failure
  const body = JSON.stringify(answerOf(failure))
  const end = setTimeout(() => socket.destroy(), lingering)
  socket.once('close', () => clearTimeout(end))
  return socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** ms that a client has to finish the headers of a request when the server closes: Node does not limit them any more */
const lastHeaders = 1000

/**
 * Refuses new connections, finishes open requests, and closes each connection after its response; after `ms`, closes
 * all of them. Handlers whose client has gone are waited for, too, within the same time.
 */
export const closeServer = async (server: Server, ms: number) => {
  const began = performance.now()
  await closeConnections(server, ms, began)
  await handlersEnded(server, Math.max(0, began + ms - performance.now()))
}

const closeConnections = (server: Server, ms: number, began: number) =>
  new Promise<void>((resolve) => {
    server.prependListener('request', (_: IncomingMessage, res: ServerResponse) => res.setHeader('Connection', 'close'))
    const closing = setInterval(() => {
      server.closeIdleConnections()
      if (performance.now() - began > lastHeaders) closeUnused(server)
    }, 50)
    const end = setTimeout(() => server.closeAllConnections(), ms)
    server.close(() => {
      clearInterval(closing)
      clearTimeout(end)
      resolve()
    })
  })
