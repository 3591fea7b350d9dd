import type { IncomingMessage } from 'node:http'
import type { Visit } from '../../../clicks/visit.ts'
import { clientAddress, plainAddress, type TrustedProxies } from '../../../lib/address.ts'
import { agentLimit, isBrowser, isDevice, readAgent } from '../../../clicks/visitor/agent.ts'
import { languagesLimit, preferredLanguages } from '../../../clicks/visitor/language.ts'
import { isLoadAhead } from '../../../clicks/visitor/loadahead.ts'
import { mediumOfQuery } from '../../../clicks/visitor/medium.ts'
import { chanceOf } from './chance.ts'
import type { Destination, Visitor } from './resolve.ts'
import { withoutMarks } from './scan.ts'

/** What led a visitor to a link: its short address, a QR code, a campaign's rotator, an entry of a bio page. */
export type Source = Visit['source']
/** What was visited: a link, or a QR code or bio page, whose link is 0. */
export type Visited = Pick<Visit, 'account' | 'link' | 'revision'> & {
  readonly max_clicks?: number | null
  /** which address of the link it is */
  readonly address?: number
}
/** Where the visitor is sent, and by which rule. */
export type Chosen = Pick<Destination, 'url' | 'rule' | 'recorded'>

const limited = (header: string | undefined, length: number) => (header ?? '').slice(0, length)

export interface VisitorOptions {
  /** Returns the ISO 3166-1 alpha-2 code of an address, an empty string when unknown. */
  readonly countryOf: (address: string) => string
  /** proxies whose `X-Forwarded-For` is trusted */
  readonly trustProxy: TrustedProxies
  /** whether visitors use https */
  readonly secureCookies: () => boolean
  /** secret of the service; variants are chosen by a hash with it */
  readonly pepper: Buffer
}

const agentOf = ({ headers }: IncomingMessage) => limited(headers['user-agent'], 512)

/** The data that distinguish visitors, as in the statistics. */
const visitorText = (req: IncomingMessage, trustProxy: TrustedProxies) => {
  const address = clientAddress(req, trustProxy)
  return `${plainAddress(address) || address}\n${limited(req.headers['user-agent'], agentLimit)}`
}

/** Returns the query of a request, without its question mark. */
export const queryOf = ({ url = '' }: IncomingMessage) => {
  const at = url.indexOf('?')
  return at < 0 ? '' : (url.slice(at + 1).split('#', 1)[0] ?? '')
}

/** Returns what the rules of a link may ask about the visitor behind a request. */
export const readVisitor = (
  req: IncomingMessage,
  link: number,
  { unlocked, rest = '' }: Pick<Visitor, 'unlocked' | 'rest'>,
  { countryOf, trustProxy, secureCookies, pepper }: VisitorOptions,
): Visitor => ({
  unlocked,
  rest,
  agent: agentOf(req),
  isDevice: (name) => isDevice(name, agentOf(req)),
  isBrowser: (name) => isBrowser(name, agentOf(req)),
  country: () => countryOf(clientAddress(req, trustProxy)),
  languages: () => preferredLanguages(req.headers['accept-language'] ?? ''),
  untracked: () => req.headers['sec-gpc'] === '1' || req.headers['dnt'] === '1',
  secure: secureCookies,
  query: () => withoutMarks(queryOf(req)),
  chance: (variant) => chanceOf(pepper, `${link}/${variant}`, visitorText(req, trustProxy)),
})

/** Whether a visit counts as a click, by the class that it is recorded with. */
export const isPerson = ({ agent, prefetch }: Pick<Visit, 'agent' | 'prefetch'>): boolean =>
  !prefetch && readAgent(agent).class === 'human'

/** Whether a request is of a person who opens a link now, as far as it says itself. */
export const isOpened = (req: IncomingMessage): boolean =>
  req.method === 'GET' && isPerson({ agent: agentOf(req), prefetch: isLoadAhead(req.headers) })

/** Returns the visit of a request, as it is recorded. */
export const readVisit = (
  req: IncomingMessage,
  { account, link, revision, address: place = 1 }: Visited,
  { url, rule, recorded = url }: Chosen,
  source: Source,
  trustProxy: TrustedProxies,
): Visit => {
  const { headers } = req
  const asked = mediumOfQuery(queryOf(req))
  return {
    at: new Date().toISOString(),
    account,
    link,
    revision,
    destination: recorded,
    rule,
    source,
    ...(place > 1 && { place }),
    address: clientAddress(req, trustProxy),
    agent: agentOf(req),
    referrer: limited(headers.referer, 2048),
    ...(asked && { asked }),
    // one more than are read: a header that was cut off is read as the redirect has read it
    languages: limited(headers['accept-language'], languagesLimit + 1),
    prefetch: isLoadAhead(headers),
  }
}
