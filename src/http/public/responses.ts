import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { isUnavailable } from '../../lib/unavailable.ts'
import { withRequestedHost } from '../ownaddress.ts'
import { type Page, sendPage } from './page.ts'
import { pages } from './pages.ts'

export type PublicHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void>

/** Redirects a visitor to a URL with 302, which must not be cached: each visit is counted. */
export const redirectTo = (res: ServerResponse, url: string) => {
  res.writeHead(302, { Location: url, 'Cache-Control': 'private, no-store', 'Content-Length': 0 })
  res.end()
}

/** Redirects a POST to the same address with 303, so that the browser continues with GET. */
export const seeOther = (req: IncomingMessage, res: ServerResponse, setCookie?: string) => {
  res.writeHead(303, {
    Location: req.url ?? '/',
    'Cache-Control': 'private, no-store',
    'Content-Length': 0,
    ...(setCookie ? { 'Set-Cookie': setCookie } : {}),
  })
  res.end()
}

/** Redirects to a branded domain's fallback URL, or sends the page: without a URL, and when it has become one of our own, which would loop. */
export const sendFallback = (
  req: IncomingMessage,
  res: ServerResponse,
  url: string | undefined,
  page: Page,
  isOurHost: (host: string) => boolean,
) => (url && !withRequestedHost(req, isOurHost)(new URL(url).host) ? redirectTo(res, url) : sendPage(req, res, page))

/** Responds 503 when the database cannot be reached; logs any other error and responds 500. */
export const sendFailure = (req: IncomingMessage, res: ServerResponse, error: unknown, log: Logger) => {
  const unavailable = isUnavailable(error)
  if (!unavailable) log.error({ err: error }, 'a public request failed')
  if (!res.headersSent) sendPage(req, res, unavailable ? pages.unavailable : pages.failed)
}
