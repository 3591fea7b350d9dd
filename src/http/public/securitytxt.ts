import type { IncomingMessage, ServerResponse } from 'node:http'

const days = 180

/**
 * Returns what serves `/.well-known/security.txt`: where vulnerabilities are reported (RFC 9116). `contact` is an
 * https or mailto address. `Expires` is half a year ahead, since the file is as new as the settings of the service.
 */
export const securityTxt =
  (contact: string, now: () => Date = () => new Date()) =>
  (req: IncomingMessage, res: ServerResponse) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') return void res.writeHead(405, { Allow: 'GET, HEAD' }).end()
    const expires = new Date(now().getTime() + days * 86_400_000)
    expires.setUTCHours(0, 0, 0, 0)
    const text = `Contact: ${contact}\nExpires: ${expires.toISOString()}\n`
    res.writeHead(200, {
      'Content-Type': 'text/plain; charset=utf-8',
      'Content-Length': Buffer.byteLength(text),
      'Cache-Control': 'public, max-age=3600',
      'X-Content-Type-Options': 'nosniff',
    })
    res.end(req.method === 'HEAD' ? undefined : text)
  }
