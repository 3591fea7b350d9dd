import accepts from 'accepts'
import type { IncomingMessage } from 'node:http'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/** about 0.1 ms for a page; a higher quality costs several times as much and saves few bytes */
const quality = 3
/** bytes; below this, compression saves less than a packet */
const minimum = 1024

/**
 * Returns a page as the client accepts it: Brotli, gzip, or as it is. A page with hidden fields stays as it is: they
 * have signatures, and the length of a compressed page would tell how much of a secret equals something that an
 * attacker made it repeat (BREACH).
 */
export const compress = (req: IncomingMessage, text: string): { readonly body: Buffer; readonly encoding?: string } => {
  const body = Buffer.from(text)
  if (body.length < minimum || text.includes('type="hidden"')) return { body }
  // Brotli where it is accepted: browsers name gzip first
  switch (accepts(req).encodings(['br']) || accepts(req).encodings(['gzip'])) {
    case 'br': {
      const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: body.length }
      return { body: brotliCompressSync(body, { params }), encoding: 'br' }
    }
    case 'gzip':
      return { body: gzipSync(body), encoding: 'gzip' }
    default:
      return { body }
  }
}
