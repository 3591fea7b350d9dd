import type { IncomingMessage } from 'node:http'
import accepts from 'accepts'
import { isDevice, readAgent } from '../../src/clicks/visitor/agent.ts'
import { countryCode } from '../../src/clicks/visitor/country.ts'
import { preferredLanguages } from '../../src/clicks/visitor/language.ts'
import { mediumOfQuery } from '../../src/clicks/visitor/medium.ts'
import { referrerHost } from '../../src/clicks/visitor/referrer.ts'
import { requestId } from '../../src/http/api/requestid.ts'
import { hasSessionCookie } from '../../src/http/api/session.ts'
import { hasCached } from '../../src/http/public/page/etag.ts'
import { viewOf } from '../../src/http/public/page/view.ts'
import { isUnlocked } from '../../src/http/public/password/unlock.ts'
import { textsFor } from '../../src/http/public/texts/languages.ts'
import { routes } from '../../src/http/routes.ts'
import { openApi } from '../../src/http/docs/openapi.ts'
import { parseFilter, parsePath } from '../../src/http/scim/parse.ts'
import { parseLineId } from '../../src/http/streams/place.ts'
import { addressBlock, clientAddress, plainAddress } from '../../src/lib/address.ts'
import { readHost, readPattern, readUrl } from '../../src/lib/blocklist.ts'
import { textCell } from '../../src/lib/csv.ts'
import { framingRefusal } from '../../src/lib/framing.ts'
import { networksIn } from '../../src/lib/networks.ts'
import { readBlockList } from '../../src/lib/readblocklist.ts'
import { readShortAddress } from '../../src/lib/short/address.ts'
import { normalized, readJson, requestHeaders } from '../../src/lib/strangers.ts'
import { normalHost, safeTargetUrl } from '../../src/lib/url.ts'
import { describeError } from '../../src/logger.ts'
import { pieces, runOf, unicodePieces } from '../support/text.ts'
import { cpuTime } from '../support/clock.ts'
import { expectGrowth } from '../support/turns.ts'

const requestWith = (name: string, value: string, url = '/') =>
  ({
    method: 'GET',
    url,
    headers: { [name]: value },
    socket: { remoteAddress: '192.0.2.1' },
  }) as unknown as IncomingMessage
const operator = { name: '', email: undefined, imprint: undefined, privacy: undefined }

/** What reads texts of strangers, without the limits in front of it. */
const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  'user agents': readAgent,
  devices: (text) => isDevice('iphone', text),
  languages: preferredLanguages,
  'languages of pages': (text) => textsFor(requestWith('accept-language', text)),
  // the library takes the square of the quotation marks: behind its limit
  'media types': (text) => accepts(requestWith('accept', text.slice(0, requestHeaders.accept))).types(['json', 'html']),
  encodings: (text) => accepts(requestWith('accept-encoding', text)).encodings(['br', 'gzip']),
  referrers: (text) => referrerHost(text, () => false),
  // behind its limit
  sources: (text) => mediumOfQuery(`utm_source=${text}`),
  mediums: (text) => mediumOfQuery(`utm_medium=${text}`),
  'chains of proxies': (text) => clientAddress(requestWith('x-forwarded-for', text), 1),
  'cookies of sessions': (text) => hasSessionCookie(requestWith('cookie', text), 'http://localhost'),
  'cookies of passwords': (text) =>
    isUnlocked(requestWith('cookie', text), Buffer.alloc(32), { link: 1, password: '' }, 0, false),
  tags: (text) => hasCached(requestWith('if-none-match', text), '"a"'),
  'paths of pages': (text) =>
    viewOf(requestWith('user-agent', text, `/${text}`), operator, { asJson: false, host: 'localhost' }),
  'ids of requests': requestId,
  'paths of directories': parsePath,
  'filters of directories': (text) =>
    parseFilter(`userName eq "${text.replaceAll(/["\\\p{Cc}\p{Cs}]/gu, '')}`.slice(0, 1000) + '"'),
  'ids of lines': (text) => parseLineId(text, true),
  addresses: (text) => [plainAddress(text), addressBlock(text), networksIn(text)],
  hosts: (text) => [normalHost(text), readHost(text)],
  URLs: (text) => [safeTargetUrl(text), readUrl(text), readShortAddress(text)],
  patterns: readPattern,
  'block lists': (text) => Promise.all([readBlockList(text, 'others'), readBlockList(text, 'operators')]),
  'policies of framed pages': (text) =>
    framingRefusal({ 'content-security-policy': `frame-ancestors ${text}` }, 'https://a.example/', 'https://b.example'),
  'options of framed pages': (text) =>
    framingRefusal({ 'x-frame-options': text }, 'https://a.example/', 'https://b.example'),
  forms: (text) => new URLSearchParams(text).get('t'),
  JSON: (text) => readJson(text, { levels: 8, values: 3000 }),
  'spellings of Unicode': (text) =>
    (['tag', 'country', 'password'] as const).map((what) => normalized(what, 'NFKD', text)),
  countries: countryCode,
  cells: textCell,
  'errors in the log': (text) => describeError(new Error(text)),
}

type Field = Readonly<{
  $ref?: string
  anyOf?: readonly Field[]
  oneOf?: readonly Field[]
  type?: unknown
  properties?: Readonly<Record<string, Field>>
  items?: Field
}>

/** ms of CPU time: an input that takes less cannot be one that grows too fast */
const quickMs = 20
const begins = ['', '"', 'https://', 'x ']
const largest = 1 << 17
const all = [...pieces, ...unicodePieces]
const named = (begin: string, piece: string) => begin + piece.slice(0, 20)

describe('twice as long a text takes at most three times as long to read', () => {
  for (const [what, read] of Object.entries(parsers))
    it(what, async () => {
      for (const begin of begins)
        for (const piece of all) {
          const textOf = (size: number) => `${begin}${runOf(piece, size)}!`
          const { ms } = await cpuTime<unknown>(() => read(textOf(largest)))
          if (ms > quickMs) await expectGrowth(textOf, read, { from: largest / 8, to: largest }, named(begin, piece))
        }
    })

  const { paths, components } = openApi({ routes, version: '' })
  const schemas = components.schemas as Readonly<Record<string, Field>>

  /** Returns a value of a schema in which each string is a text. */
  const filled = ({ $ref, anyOf, oneOf, type, properties, items }: Field, text: string): unknown => {
    const [choice] = [...(anyOf ?? []), ...(oneOf ?? [])].sort((a, b) => Number('items' in b) - Number('items' in a))
    const other = $ref === undefined ? choice : schemas[$ref.slice($ref.lastIndexOf('/') + 1)]
    if (other) return filled(other, text)
    if (properties)
      return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, filled(one, text)]))
    if (items) return [filled(items, text)]
    return ['integer', 'boolean'].includes(String([type].flat()[0])) ? 1 : text
  }

  for (const { method, path, body, query } of routes) {
    const operation = paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method]
    const { schema } = operation?.requestBody?.content['application/json'] ?? {}
    const names = (operation?.parameters ?? []).map(({ name }) => name)
    const read = (text: string) => [
      body?.safeParse(filled((schema ?? {}) as Field, text)),
      query?.safeParse(Object.fromEntries(names.map((name) => [name, text]))),
    ]
    if (body ?? query)
      it(`fields of ${method.toUpperCase()} ${path}`, async () => {
        for (const piece of all) {
          const textOf = (size: number) => `${runOf(piece, size)}!`
          const { ms } = await cpuTime(() => read(textOf(largest / 4)))
          if (ms > quickMs) await expectGrowth(textOf, read, { from: largest / 16, to: largest / 4 }, named('', piece))
        }
      })
  }
})
