import { isSignatureOf, sign } from '../../../security/signature.ts'
import { withQuery } from './forward.ts'

/** seconds between a scan and the visit of the link that it leads to, in which a password is entered, too */
const lifetime = 60
const name = 'll_scan='
const mark = /^ll_scan=(\d{1,15})\.(\d{1,12})\.([\w-]+)$/

const signedText = (code: number, link: number, until: number) => `scan ${code} ${link} ${until}`

/** Returns a query without the marks of scans. */
export const withoutMarks = (query: string): string =>
  query.includes(name)
    ? query
        .split('&')
        .filter((pair) => !mark.test(pair))
        .join('&')
    : query

/** Of an address that was copied with its mark, the mark is left out. */
const unmarked = (url: string) => {
  if (!url.includes(name)) return url
  const address = new URL(url)
  address.search = withoutMarks(address.search.slice(1))
  return address.href
}

/**
 * Returns the address of a link with a mark, signed by us: its next visit comes by a scan of a QR code. `now` is in ms
 * since 1970.
 */
export const withMark = (
  secret: Buffer,
  url: string,
  { code, link }: { readonly code: number; readonly link: number },
  now: number,
): string => {
  const until = Math.floor(now / 1000) + lifetime
  return withQuery(unmarked(url), `${name}${code}.${until}.${sign(secret, signedText(code, link, until))}`)
}

/**
 * Returns the QR code that a visit of a link comes by, by the query of its address; undefined when no mark there is
 * ours, of this link, and valid.
 */
export const scannedCode = (secret: Buffer, query: string, link: number, now: number): number | undefined => {
  if (!query.includes(name)) return undefined
  for (const pair of query.split('&')) {
    const [, code, until, signature = ''] = mark.exec(pair) ?? []
    const isValid =
      Number(until) * 1000 > now && isSignatureOf(secret, signedText(Number(code), link, Number(until)), signature)
    if (isValid) return Number(code)
  }
  return undefined
}
