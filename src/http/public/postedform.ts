import type { IncomingMessage } from 'node:http'

/**
 * Whether a browser says that the form was on a page of another site. A signature in it may be one that the site was
 * given for a visit of its own. What another site sends costs its visitor nothing: it is refused before it is
 * counted, and so before anything is read for it.
 */
export const isFromOtherSite = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  ['cross-site', 'same-site'].includes(String(headers['sec-fetch-site'] ?? ''))

/**
 * Reads the fields of a posted form (`application/x-www-form-urlencoded`). Returns undefined above `limit` bytes: the
 * rest is read, so that the connection stays usable, but not kept. So it does when the client goes away meanwhile,
 * which is no failure of the service.
 */
export const readForm = async (req: IncomingMessage, limit: number) => {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of req as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes <= limit) chunks.push(chunk)
    }
  } catch {
    return undefined
  }
  return bytes > limit ? undefined : new URLSearchParams(Buffer.concat(chunks).toString())
}
