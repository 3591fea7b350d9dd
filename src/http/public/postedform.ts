import type { IncomingMessage } from 'node:http'

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
