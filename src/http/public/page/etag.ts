import type { IncomingMessage } from 'node:http'

/** Returns whether the client has what this tag names (RFC 9110, 13.1.2). */
export const hasCached = ({ headers }: IncomingMessage, etag: string) =>
  (headers['if-none-match'] ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag.replace(/^W\//, ''))
