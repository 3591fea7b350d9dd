import { withoutPasted } from '../../lib/url.ts'

/** Characters that mean the same when they are escaped (RFC 3986, 6.2.2.2), and those of other alphabets. */
const escaped = /(?:%(?:[013-7][\dA-F]|2[0-9A-E]|[89A-F][\dA-F]))+/gi

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Returns the path of an address as its owner has written it: with one slash before it, without unneeded escapes, and
 * without pasted characters after it. The query stays as it is. An escaped slash is no slash.
 */
export const asWritten = (url: string): string => {
  const at = url.search(/[?#]/)
  const [path, rest] = at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at)]
  const spelled = path.replace(/^\/{2,}/, '/').replaceAll(escaped, decoded)
  return withoutPasted(spelled) + rest
}
