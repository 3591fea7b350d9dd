import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { isUnavailable } from '../../lib/unavailable.ts'
import { withRequestedHost } from '../api/ownaddress.ts'
import type { Blocks } from '../../cache/blocks.ts'
import { blockedPage } from './blocked.ts'
import { randomReference } from '../../lib/reference.ts'
import { hasPlace, pathIn, withValues } from './link/rest.ts'
import { queryOf } from './link/visit.ts'
import type { SendPage, WritePage } from './page/page.ts'
import { failurePage } from './page/messages.ts'

/** What has ended already when nothing had to be waited for. */
export type MaybeLater = Promise<void> | void
export type PublicHandler = (req: IncomingMessage, res: ServerResponse) => MaybeLater

/** Redirects a visitor to a URL with 302, which must not be cached: each visit is counted. */
export const redirectTo = (res: ServerResponse, url: string) => {
  res.writeHead(302, { Location: url, 'Cache-Control': 'private, no-store', 'Content-Length': 0 })
  res.end()
}

/** Redirects a POST to the same address with 303, so that the browser continues with GET. */
export const seeOther = (req: IncomingMessage, res: ServerResponse, setCookie?: string) => {
  res.writeHead(303, {
    // with one slash: two, and what follows is a host. Escapes stay: some must not stand in a header without them
    Location: (req.url ?? '/').replace(/^[/\\]+/, '/'),
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
  /** Counts what fails in an outage, and returns the reference of it. */
  readonly outages: { readonly failed: (error: unknown, what: string) => string | undefined }
}

const hostOf = ({ headers: { host = '' } }: IncomingMessage) => host.toLowerCase().replace(/:\d+$/, '')

/** Returns the address of a domain, with the path and query of the request. */
const filled = (address: string, req: IncomingMessage) =>
  hasPlace(address)
    ? withValues(address, { path: pathIn(req.url ?? '') ?? '', host: hostOf(req), query: queryOf(req) })
    : address

export type Fallbacks = ReturnType<typeof createFallbacks>

/** Creates the responses of all public addresses when there is nothing to show. */
export const createFallbacks = ({ sendPage, isOurHost, blocks, log, outages }: FallbackOptions) => {
  const failureReference = (error: unknown) => {
    const reference = randomReference()
    log.error({ err: error, reference }, 'a public request failed')
    return reference
  }

  return {
    /**
     * Redirects to a branded domain's fallback URL, or sends the page: without a URL, and when it has become one of our
     * own, which would loop.
     */
    sendFallback: (req: IncomingMessage, res: ServerResponse, given: string | undefined, page: WritePage) => {
      const url = given && filled(given, req)
      if (!url || withRequestedHost(req, isOurHost)(new URL(url).host)) return sendPage(req, res, page)
      return blocks.destination(url) ? sendPage(req, res, blockedPage) : redirectTo(res, url)
    },
    /**
     * Responds 503 when the database cannot be reached, and 500 after any other error, with the reference of the log
     * line.
     */
    sendFailure: (req: IncomingMessage, res: ServerResponse, error: unknown) => {
      const unavailable = isUnavailable(error)
      const reference = outages.failed(error, 'a public request failed') ?? failureReference(error)
      if (!res.headersSent) sendPage(req, res, failurePage(unavailable ? 'unavailable' : 'failed', reference))
    },
  }
}
