import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

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

const failure = (status: number, message: string): OperatorAnswer => ({ status, body: { error: 1, message } })

const answerOf = async ({ method, url = '/' }: IncomingMessage, routes: OperatorRoutes): Promise<OperatorAnswer> => {
  const [path = '', query] = url.split('?', 2)
  if (!Object.hasOwn(routes, path))
    return failure(404, `There is nothing at this address. This port serves ${Object.keys(routes).join(', ')}.`)
  if (method !== 'GET' && method !== 'HEAD') return failure(405, 'This address supports GET, HEAD.')
  try {
    return await routes[path]!(new URLSearchParams(query))
  } catch {
    return failure(503, 'This cannot be read at the moment. Try again shortly.')
  }
}

/** Returns the server of the operator's port, which visitors must not reach. */
export const createOperatorServer = (routes: OperatorRoutes): Server =>
  createServer({ headersTimeout: 10_000, requestTimeout: 30_000 }, (req, res) => {
    void answerOf(req, routes).then((answer) => send(req, res, answer))
  })
