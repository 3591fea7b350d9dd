import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { isUnavailable } from '../../lib/unavailable.ts'
import { withRequestedHost } from '../ownaddress.ts'
import type { Blocks } from '../../cache/blocks.ts'
import { blockedPage } from './blocked.ts'
import type { SendPage, WritePage } from './page.ts'
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

export interface FallbackOptions {
  readonly sendPage: SendPage
  readonly isOurHost: (host: string) => boolean
  readonly blocks: Pick<Blocks, 'destination'>
  readonly log: Logger
}

export type Fallbacks = ReturnType<typeof createFallbacks>

/** Creates the responses of all public addresses when there is nothing to show. */
export const createFallbacks = ({ sendPage, isOurHost, blocks, log }: FallbackOptions) => ({
  /** Redirects to a branded domain's fallback URL, or sends the page: without a URL, and when it has become one of our own, which would loop. */
  sendFallback: (req: IncomingMessage, res: ServerResponse, url: string | undefined, page: WritePage) => {
    if (!url || withRequestedHost(req, isOurHost)(new URL(url).host)) return sendPage(req, res, page)
    return blocks.destination(url) ? sendPage(req, res, blockedPage) : redirectTo(res, url)
  },
  /** Responds 503 when the database cannot be reached; logs any other error and responds 500. */
  sendFailure: (req: IncomingMessage, res: ServerResponse, error: unknown) => {
    const unavailable = isUnavailable(error)
    if (!unavailable) log.error({ err: error }, 'a public request failed')
    if (!res.headersSent) sendPage(req, res, unavailable ? pages.unavailable : pages.failed)
  },
})
