import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { normalHost } from '../../lib/url.ts'

/** half a year, as seconds; without subdomains, which may be other services */
const value = 'max-age=15552000'

/**
 * Makes browsers use https only for the host of an https BASE_URL (RFC 6797). Branded domains are left out: they belong
 * to others, who may move them to a server without https.
 */
export const requireHttps = (server: Server, baseUrl: string) => {
  const { protocol, hostname } = new URL(baseUrl)
  const main = normalHost(hostname)
  if (protocol !== 'https:') return
  server.on('request', ({ headers }: IncomingMessage, res: ServerResponse) => {
    if (normalHost(headers.host ?? '') === main) res.setHeader('Strict-Transport-Security', value)
  })
}
