import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Site } from './server.ts'

type Handler = Site['redirect']

const reading: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS'])

const refuse = (res: ServerResponse, message: string) => {
  const body = JSON.stringify({ error: 1, message })
  res.writeHead(405, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    Allow: [...reading].join(', '),
  })
  res.end(body)
}

/**
 * Returns a site on which nothing can be changed: requests other than GET, HEAD and OPTIONS get 405 with the message. Pages that exist to
 * send something are left out: reports, answers, and links of mails that work once. Cookies are ignored: browsers send those of a service on
 * another port of the host.
 */
export const readOnly = ({ api, redirect, below, at = {} }: Site, message: string): Site => {
  const guarded =
    (handler: Handler): Handler =>
    (req: IncomingMessage, res: ServerResponse) => {
      delete req.headers.cookie
      return reading.has(req.method) ? handler(req, res) : refuse(res, message)
    }
  const keep = (handlers: Readonly<Record<string, Handler>>, left: (path: string) => boolean) =>
    Object.fromEntries(
      Object.entries(handlers)
        .filter(([path]) => left(path))
        .map(([path, handler]) => [path, guarded(handler)]),
    )
  return {
    api: guarded(api),
    redirect: guarded(redirect),
    below: keep(below, (path) => ['/r/', '/u/', '/qr/'].includes(path)),
    at: keep(at, (path) => path !== '/report'),
  }
}
