import type { IncomingHttpHeaders } from 'node:http'

// All text of strangers is cut here before any expression sees it. docs/threats.md has the list.

/**
 * Headers of requests that the service reads, and how many characters of each. A longer value is cut: all of them are
 * longer than any value that means something. A server has at most 16 KiB for the address and all headers of a request.
 */
export const requestHeaders = {
  accept: 1024,
  'accept-encoding': 1024,
  'accept-language': 1024,
  'access-control-request-method': 64,
  authorization: 1024,
  'content-encoding': 64,
  'content-type': 1024,
  cookie: 16_384,
  dnt: 64,
  host: 300,
  'idempotency-key': 1024,
  'if-match': 4096,
  'if-none-match': 4096,
  'last-event-id': 256,
  'linkledger-account': 64,
  origin: 1024,
  purpose: 64,
  referer: 4096,
  'sec-ch-ua-mobile': 64,
  'sec-fetch-dest': 64,
  'sec-fetch-mode': 64,
  'sec-fetch-site': 64,
  'sec-gpc': 64,
  'sec-purpose': 64,
  'user-agent': 1024,
  'x-forwarded-for': 4096,
  'x-moz': 64,
  'x-request-id': 256,
}
const requestLimits = Object.entries(requestHeaders)

/** Cuts the headers of a request, once and before anything reads them. */
export const cutHeaders = (headers: IncomingHttpHeaders): void => {
  for (const [name, limit] of requestLimits) {
    const value = headers[name] as string | undefined
    if (value === undefined || value.length <= limit) continue
    // proxies add to the end
    headers[name] = name === 'x-forwarded-for' ? value.slice(-limit) : value.slice(0, limit)
  }
}

/** Headers of the answers of other servers that the service reads. A longer one counts as not sent. */
export const answerHeaders = {
  'content-security-policy': 16_384,
  etag: 256,
  'last-modified': 64,
  location: 8192,
  'retry-after': 64,
  'x-frame-options': 256,
} as const
export type AnswerHeaders = Readonly<Partial<Record<keyof typeof answerHeaders, string>>>

/** Returns the headers of an answer that the service reads. */
export const readHeaders = (headers: IncomingHttpHeaders): AnswerHeaders =>
  Object.fromEntries(
    Object.entries(answerHeaders).flatMap(([name, limit]) => {
      const value = [headers[name] ?? []].flat().join(',')
      return value === '' || value.length > limit ? [] : [[name, value]]
    }),
  )

/** The longest texts of other kinds, in UTF-16 code units, of which a character outside of the usual ones has two. */
export const textLimits = {
  /** a record in DNS; ours is shorter, and so is any name */
  record: 255,
  /** a line of a block list */
  listLine: 4096,
  /** a row in a body with many, in bytes */
  row: 64 * 1024,
  /** a tag of a link before it is normalised: four may become one */
  tag: 200,
  /** a text that lists are searched for, in both forms of Unicode */
  search: 256,
  /** the name of a country */
  country: 64,
  /** the path of an address: a longer one leads nowhere */
  path: 2048,
  /** an e-mail address */
  email: 254,
  /** a filter of a directory (SCIM), or a path of a change */
  filter: 1024,
  /** an attribute of a person in a directory */
  attribute: 255,
  /** a password: a longer one cannot be set */
  password: 1024,
  /** a host before it is written in ASCII, in which it has at most 254 */
  host: 512,
  /** the beginning of the answer of a receiver, for people */
  excerpt: 200,
}

/** Returns the beginning of a text, as any table and any terminal can show it: no zero byte, no half of a character. */
export const printable = (what: 'record' | 'excerpt', text: string): string =>
  text
    // longer than it may be at first, since runs become one space
    .slice(0, 4 * textLimits[what])
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\ufffd\s]+/gu, ' ')
    .trim()
    .slice(0, textLimits[what])
    .replace(/\p{Cs}$/u, '')

/** Returns a text, or a little more of a longer one than its limit, by which it is known to be longer. */
export const cut = (what: keyof typeof textLimits, text: string): string => text.slice(0, textLimits[what] + 1)

/**
 * Returns a text in a normal form of Unicode; undefined when it is too long. To sort a run of combining marks takes the
 * square of its length.
 */
export const normalized = (
  what: 'tag' | 'country' | 'password' | 'search' | 'path' | 'email',
  form: 'NFC' | 'NFD' | 'NFKC' | 'NFKD',
  text: string,
): string | undefined => (text.length > textLimits[what] ? undefined : text.normalize(form))

/** What may be in a JSON text. */
export interface JsonLimits {
  /** how many arrays and objects a value may be in */
  readonly levels: number
  /** how many values there may be, at all levels: the whole, and each in an array or object */
  readonly values: number
}

const [quote, comma, backslash] = [0x22, 0x2c, 0x5c]
const isOpening = (char: number) => char === 0x5b || char === 0x7b
const isClosing = (char: number) => char === 0x5d || char === 0x7d

const isEscaped = (text: string, at: number) => {
  let first = at
  while (text.charCodeAt(first - 1) === backslash) first--
  return (at - first) % 2 === 1
}

/** Returns where the string ends that begins at a quotation mark. */
const endOfString = (text: string, at: number) => {
  let end = text.indexOf('"', at + 1)
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

/**
 * Returns whether a JSON text keeps within limits, without parsing it: to parse millions of levels or values takes a
 * hundred times as long. A text that is no JSON may keep within them, too.
 */
export const isWithin = (text: string, { levels, values }: JsonLimits): boolean => {
  let level = 0
  let found = 1
  let last = 0
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char <= 0x20) continue
    // an array or object that closes at once has no values
    const isFirst = isOpening(last) && !isClosing(char)
    if (isFirst && level > levels) return false
    if (isFirst || char === comma) found++
    if (found > values) return false
    if (isOpening(char)) level++
    else if (isClosing(char)) level--
    else if (char === quote) at = endOfString(text, at)
    last = char
  }
  return true
}

/** What a JSON text says, or why it cannot be read: it is no JSON, or has more than the limits allow. */
export type ReadJson = { readonly value: unknown } | { readonly problem: 'syntax' | 'limits' }

/** Reads a JSON text that keeps within limits. */
export const readJson = (text: string, limits: JsonLimits): ReadJson => {
  if (!isWithin(text, limits)) return { problem: 'limits' }
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return { problem: 'syntax' }
  }
}
