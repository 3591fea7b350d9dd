import { createHash } from 'node:crypto'
import { request } from 'node:http'
import { readPng } from '../support/qr.ts'
import type { Json } from './database.ts'
import type { Account } from './resources.ts'
import { brandHost, ownHost } from './visits.ts'

/** A request, with the API key of the account `as` if there is one. */
export interface Question {
  readonly as?: string
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** The parts of a response that are compared: of a page its addresses and its owner's texts, of an image its pixels. */
export interface Reply {
  readonly status: number
  readonly type: string | undefined
  readonly location?: string | undefined
  readonly json?: unknown
  readonly image?: string
  readonly addresses?: readonly string[]
  readonly words?: readonly string[]
}

const kinds: Readonly<Record<string, { readonly list: string; readonly one?: string; readonly ids: number }>> = {
  urls: { list: '/api/urls', one: '/api/url', ids: 30 },
  domains: { list: '/api/domains', ids: 0 },
  pixels: { list: '/api/pixels', ids: 0 },
  qr: { list: '/api/qr', one: '/api/qr', ids: 13 },
  overlays: { list: '/api/overlay', one: '/api/overlay', ids: 12 },
  splash: { list: '/api/splash', one: '/api/splash', ids: 3 },
  bio: { list: '/api/bio', one: '/api/bio', ids: 8 },
  campaigns: { list: '/api/campaigns', ids: 0 },
  channels: { list: '/api/channels', one: '/api/channel', ids: 7 },
}
const numbers = (to: number) => Array.from({ length: to }, (_, i) => i + 1)
const dimensions = 'by=country,referrer,browser,os,device,language,source'
const spans = [
  'from=2026-01-01&to=2026-12-31&interval=month',
  `from=2026-01-01&to=2026-02-04&interval=day&${dimensions}`,
  `from=2026-01-02&to=2026-01-03&interval=hour&by=country`,
]

/** Returns the paths of every list, with pages, filters and orders. */
const listPaths = () => [
  ...Object.values(kinds).flatMap(({ list }) => [list, `${list}?limit=3&page=2`, `${list}?limit=1&page=99`]),
  '/api/urls?order=click',
  '/api/urls?order=date&limit=5',
  '/api/urls?q=second',
  '/api/urls?q=CARD',
  `/api/urls?domain=${brandHost}`,
  `/api/urls?domain=${ownHost}`,
  '/api/urls?domain=unknown.example.net',
  ...numbers(7).flatMap((id) => [`/api/urls?campaign=${id}`, `/api/urls?channel=${id}`]),
  '/api/urls?short=full',
  `/api/urls?short=https://${brandHost}/second-name`,
  '/api/urls?short=not-there',
]
const onePaths = () => [
  ...Object.values(kinds).flatMap(({ one, ids }) => (one ? numbers(ids).map((id) => `${one}/${id}`) : [])),
  ...numbers(4)
    .slice(1)
    .flatMap((id) => spans.map((span) => `/api/url/${id}/stats?${span}`)),
  ...numbers(11).map((id) => `/api/overlay/${id}/answers`),
]

/** Returns all GET requests of each account. The two accounts with many resources also request each other's. */
export const apiQuestions = (accounts: readonly Account[]): Question[] =>
  accounts.flatMap(({ name }) => {
    const few = [
      '/api/account',
      ...spans.map((span) => `/api/account/stats?${span}`),
      '/api/urls',
      '/api/qr',
      '/api/url/1',
    ]
    const paths = ['ann', 'bob'].includes(name) ? [...few, ...listPaths(), ...onePaths()] : few
    return paths.map((path) => ({ as: name, method: 'GET', path }))
  })

const visitor = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0' }
const aliases =
  'full direct framed countdown splashed locked branded first-name second-name spring deleted brief abandoned never-had orphan unseen ' +
  'ann-bio ann-page short-lived of-bob of-dan of-eve bio-bob bio-dan bio-eve r/spring r/hush r/former r/camp-bob r/camp-dan r/camp-eve ' +
  'overlaid-1 overlaid-2 overlaid-3 overlaid-4 overlaid-5 overlaid-6 u/ann/Spring-1 u/ann/hush-2 u/bob/camp-bob-4 u/eve/camp-eve-6'
const hosts = [ownHost, brandHost, 'restored.example.org', 'unverified.example.org', 'deleted.example.org']

/** Returns all requests of a visitor; `qr` holds the public paths of QR codes. */
export const publicQuestions = (qr: readonly string[]): Question[] => {
  const get = (path: string, headers: Readonly<Record<string, string>> = {}, host = ownHost): Question => ({
    method: 'GET',
    path,
    headers: { Host: host, ...visitor, ...headers },
  })
  // unknown aliases are rate limited per IP address, so each request comes from a different one
  const all = [
    ...aliases.split(' ').map((alias) => get(`/${alias}`)),
    ...['full', 'countdown', 'overlaid-1'].map((alias) => get(`/${alias}`, { Accept: 'application/json' })),
    get('/full', { 'Accept-Language': 'fr' }),
    get('/full', { 'User-Agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X)' }),
    get('/full', { 'User-Agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' }),
    get('/full', { 'Sec-GPC': '1' }),
    ...hosts.flatMap((host) =>
      ['/', '/not-there', '/second-name', '/unseen', '/orphan'].map((path) => get(path, {}, host)),
    ),
    ...qr.flatMap((path) => [get(`${path}.svg`), get(`${path}.png?size=256`), get(`${path}/go`)]),
    ...['open barley', 'wrong words'].map((password) => ({
      method: 'POST',
      path: '/locked',
      headers: { Host: ownHost, ...visitor, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ password }).toString(),
    })),
  ]
  return all.map((question, i) => ({
    ...question,
    headers: { ...question.headers, 'X-Forwarded-For': `9.9.9.${i + 1}` },
  }))
}

interface Received {
  readonly status: number
  readonly type: string | undefined
  readonly location: string | undefined
  readonly body: Buffer
}
const receive = (address: string, { method, path, headers = {}, body = '' }: Question) =>
  new Promise<Received>((resolve, reject) => {
    const { hostname, port } = new URL(address)
    const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
    const asked = request(
      { hostname, port, method, path, headers: { ...length, ...headers }, agent: false },
      (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('end', () => {
          const { location, 'content-type': type } = answer.headers
          resolve({ status: answer.statusCode ?? 0, type, location, body: Buffer.concat(parts) })
        })
      },
    )
    asked.on('error', reject)
    asked.end(body)
  })

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const plain = (html: string) =>
  html
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

/**
 * Returns the addresses that a page links to or loads from, without that of the form for reports, which 0.1.0 did not
 * have.
 */
const addressesIn = (page: string) =>
  [...new Set(page.match(/(?:https?:\/\/|(?<=(?:href|action|src)=")\/(?!report\?))[^\s"'<>()]*/g) ?? [])].toSorted()

const readReply = ({ status, type, location, body }: Received, words: readonly string[]): Reply => {
  const common = { status, type, ...(location === undefined ? {} : { location }) }
  if (type?.includes('json')) return { ...common, json: JSON.parse(body.toString()) }
  if (type?.includes('svg')) return { ...common, image: digest(body) }
  if (type?.includes('image/png')) {
    // compressed bytes differ between versions of zlib, pixels do not
    const { width, height, data } = readPng(body)
    return { ...common, image: `${width}x${height} ${digest(data)}` }
  }
  if (!type?.includes('html')) return common
  const page = plain(body.toString())
  return { ...common, addresses: addressesIn(page), words: words.filter((word) => page.includes(word)) }
}

/** Sends a request to a service; `words` are the texts of owners to look for in pages. */
export const ask = async (
  address: string,
  question: Question,
  accounts: readonly Account[],
  words: readonly string[] = [],
): Promise<Reply> => {
  const { as, headers = {} } = question
  const key = accounts.find(({ name }) => name === as)?.key
  if (as !== undefined && key === undefined) throw new Error(`there is no account ${as}`)
  const authorized = key === undefined ? headers : { ...headers, Authorization: `Bearer ${key}` }
  return readReply(await receive(address, { ...question, headers: authorized }), words)
}

/**
 * Returns the texts of owners in a response of the API, without those that are so short that a page could contain them
 * by chance.
 */
export const wordsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return /[ :]/.test(value) && !/^[\d :-]+$/.test(value) ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  return [...new Set(Object.values(value as Json).flatMap(wordsIn))]
}
