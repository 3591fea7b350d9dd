import type { IncomingMessage } from 'node:http'

/** The fields of a posted form (`application/x-www-form-urlencoded`); undefined when it has more bytes: the rest is read, but not kept. */
export const readForm = async (req: IncomingMessage, limit: number) => {
  let body = ''
  for await (const chunk of req.setEncoding('utf8')) if (body.length <= limit) body += chunk as string
  return body.length > limit ? undefined : new URLSearchParams(body)
}
