import type { IncomingMessage, ServerResponse } from 'node:http'
import { problem } from '../../lib/problems/problem.ts'
import { answerOf, Failure } from '../api/errors.ts'
import type { Site } from './server.ts'

type Handler = Site['redirect']

const reading: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS'])

const refuse = (res: ServerResponse, moment: string) => {
  const failure = new Failure(405, problem('method_not_allowed', { what: 'replay', moment }))
  const body = JSON.stringify(answerOf(failure))
  res.writeHead(405, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    Allow: [...reading].join(', '),
  })
  res.end(body)
}

/**
 * Returns a site on which nothing can be changed: requests other than GET, HEAD and OPTIONS get 405, which names the
 * moment that it shows. Pages that exist to send something are left out: reports, answers, and links of mails that work
 * once. Cookies are ignored: browsers send those of a service on another port of the host.
 */
export const readOnly = ({ api, redirect, below, at = {}, isOfLink }: Site, moment: string): Site => {
  const guarded =
    (handler: Handler): Handler =>
    (req: IncomingMessage, res: ServerResponse) => {
      delete req.headers.cookie
      return reading.has(req.method) ? handler(req, res) : refuse(res, moment)
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
    below: keep(below, (path) => ['/r/', '/u/', '/qr/', '/.well-known/'].includes(path)),
    at: keep(at, (path) => path !== '/report'),
    ...(isOfLink && { isOfLink }),
  }
}
