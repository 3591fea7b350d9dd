import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { type Problem, problem } from '../../lib/problems/problem.ts'
import { cutHeaders } from '../../lib/strangers.ts'
import { normalHost } from '../../lib/url.ts'
import { answerOf, Failure } from '../api/errors.ts'
import { limitUnderWay } from './underway.ts'

/** A response on the operator's port: an object is sent as JSON. */
export interface OperatorAnswer {
  readonly status: number
  readonly body: object | string
  /** media type of a string; default plain text */
  readonly type?: string
}
/** What the operator's port serves, by path. */
export type OperatorRoutes = Readonly<
  Record<string, (query: URLSearchParams) => OperatorAnswer | Promise<OperatorAnswer>>
>

const send = (req: IncomingMessage, res: ServerResponse, { status, body, type = 'text/plain' }: OperatorAnswer) => {
  const isText = typeof body === 'string'
  const content = isText ? body : JSON.stringify(body)
  res.writeHead(status, {
    'Content-Type': isText ? type : 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(status === 405 ? { Allow: 'GET, HEAD' } : {}),
  })
  res.end(req.method === 'HEAD' ? undefined : content)
}

const failure = (status: number, reason: Problem): OperatorAnswer => ({
  status,
  body: answerOf(new Failure(status, reason)),
})

const respond = async ({ method, url = '/' }: IncomingMessage, routes: OperatorRoutes): Promise<OperatorAnswer> => {
  const [path = '', query] = url.split('?', 2)
  if (!Object.hasOwn(routes, path))
    return failure(404, problem('not_found', { what: 'port', paths: Object.keys(routes).join(', ') }))
  if (method !== 'GET' && method !== 'HEAD')
    return failure(405, problem('method_not_allowed', { methods: 'GET, HEAD' }))
  try {
    return await routes[path]!(new URLSearchParams(query))
  } catch {
    return failure(503, problem('unavailable', { what: 'service' }))
  }
}

/**
 * Returns the test for the hosts that the port answers to. A web page can give its own name the address of this machine
 * (DNS rebinding), and would read the port in the browser of the operator. It cannot do so with an IP address or with a
 * name without a dot.
 */
const answersTo = (hosts: readonly string[]) => {
  const names = new Set(hosts.map(normalHost))
  return (header: string | undefined) => {
    const host = normalHost(header ?? 'localhost')
    return names.has(host) || (host !== '' && !host.includes('.')) || isIP(host.replace(/^\[|\]$/g, '')) > 0
  }
}

/** Returns the server of the operator's port, which visitors must not reach. `hosts`: names with a dot that it has. */
export const createOperatorServer = (routes: OperatorRoutes, hosts: readonly string[]): Server => {
  const isKnown = answersTo(hosts)
  const misdirected = failure(421, problem('bad_request', { what: 'operator_host' }))
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 30_000 })
  limitUnderWay(server)
  return server.on('request', (req, res) => {
    if (req.socket.destroyed) return
    cutHeaders(req.headers)
    if (!isKnown(req.headers.host)) return send(req, res, misdirected)
    void respond(req, routes).then((answer) => send(req, res, answer))
  })
}
