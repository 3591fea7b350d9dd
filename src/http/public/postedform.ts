import type { IncomingMessage } from 'node:http'

/**
 * Reads the fields of a posted form (`application/x-www-form-urlencoded`). Returns undefined above `limit` bytes: the
 * rest is read, so that the connection stays usable, but not kept.
 */
export const readForm = async (req: IncomingMessage, limit: number) => {
  let body = ''
  for await (const chunk of req.setEncoding('utf8')) if (body.length <= limit) body += chunk as string
  return body.length > limit ? undefined : new URLSearchParams(body)
}
