import type { IncomingMessage } from 'node:http'
import type { Domains } from '../../../cache/domains.ts'
import type { Targets } from '../../../cache/targets.ts'
import { aliasKey, shownAlias } from '../../../lib/short/alias.ts'
import { readAgent } from '../../../clicks/visitor/agent.ts'
import { isLoadAhead } from '../../../clicks/visitor/loadahead.ts'
import { headRequests, type Misses, type MissKind, otherPath } from '../../../lib/misses.ts'
import type { KnownDomain } from '../../../queries/domains/domain.ts'
import type { Target } from '../../../queries/links/target.ts'
import { withoutEnd } from '../../../lib/url.ts'
import { normalized } from '../../../lib/strangers.ts'
import type { TrustedProxies } from '../../../lib/address.ts'
import { createBudget, missLimit } from '../budget.ts'
import { asWritten } from '../path.ts'

const longest = 64
/**
 * parts that may identify a person: the address of a mailbox or a machine, a first and a last name, a parameter, a
 * token
 */
const personal = /[@=.:]|[\p{L}\p{N}_]{21}|\p{C}|\/.*\/.*\//u
const fileEnd = /\.(?:html?|php|aspx?|pdf)$/
const countOf = (text: string, others: RegExp) => text.replaceAll(others, '').length
const isPersonal = (path: string) => {
  // normalized: ＠ is an @
  const text = normalized('path', 'NFKC', path)?.replace(fileEnd, '') ?? '='
  const digits = countOf(text, /\P{Nd}/gu)
  // numbers and tokens may be written in groups, too
  return personal.test(text) || digits >= 7 || (digits > 0 && countOf(text, /[^\p{L}\p{N}]/gu) > 20)
}
/** files that programs request automatically: no visitor has typed them */
const unasked =
  /^\/(?:robots\.txt|(?:app-)?ads\.txt|sitemap[\w-]*\.xml|apple-touch-icon[\w-]*\.png|browserconfig\.xml)$/

const spelled = (path: string) => {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

/**
 * Returns the path by which a miss is counted, without parts that may be personal; undefined: it is not counted.
 * `exact`: letter case counts in it.
 */
export const missedPath = (url: string, exact = false): string | undefined => {
  const [given = ''] = asWritten(url).split(/[?#]/, 1)
  const text = given.length > longest * 12 ? undefined : spelled(given)
  const spelling = text && `/${withoutEnd((normalized('path', 'NFC', text) ?? '').slice(1), /\//)}`
  const path = spelling?.toLowerCase()
  if (path !== undefined && unasked.test(path)) return undefined
  if (path === undefined || path.length > longest + 1 || isPersonal(path)) return otherPath
  return exact ? spelling : path
}

export interface MissedOptions {
  readonly misses: Pick<Misses, 'note'>
  readonly domains: Pick<Domains, 'byId'>
  readonly targets: Pick<Targets, 'get'>
  /** where the service's own addresses are */
  readonly baseUrl: string
  readonly trustProxy: TrustedProxies
}

/**
 * Counts requests for addresses that lead nowhere, a limited number per network and minute. They are no visits, and
 * have no events.
 */
export interface Missed {
  /** counts an address without a link: for the owner of the domain, or the operator */
  readonly address: (req: IncomingMessage, domain: KnownDomain | undefined, kind: MissKind) => void
  /** counts a miss of a link: for its owner */
  readonly link: (req: IncomingMessage, link: Pick<Target, 'account' | 'domain' | 'aliasKey'>, kind: MissKind) => void
  /** counts a blocked address, which may have a link */
  readonly blocked: (req: IncomingMessage, domain: KnownDomain | undefined, alias: string) => void
  /** counts a HEAD request for a resource of an account, which is no visit */
  readonly head: (account: number) => void
}

export const createMissed = ({ misses, domains, targets, baseUrl, trustProxy }: MissedOptions): Missed => {
  const own = new URL(baseUrl).host
  const hostOf = (domain: KnownDomain | undefined) => (domain ? new URL(domain.domain).host : own)
  const spend = createBudget(missLimit, trustProxy)
  const note = (
    req: IncomingMessage,
    miss: { readonly account: number; readonly host: string; readonly path: string; readonly kind: MissKind },
  ) => {
    const { method, headers } = req
    if (method !== 'GET' || spend(req) > 0) return
    const byPerson = !isLoadAhead(headers) && readAgent(headers['user-agent'] ?? '').class === 'human'
    misses.note({ ...miss, byPerson })
  }

  const address: Missed['address'] = (req, domain, kind) => {
    const path = missedPath(req.url ?? '', domain?.exact)
    if (path !== undefined) note(req, { account: domain?.account ?? 0, host: hostOf(domain), path, kind })
  }
  // the alias is the owner's own text
  const link: Missed['link'] = (req, { account, domain, aliasKey: key }, kind) =>
    note(req, {
      account,
      host: hostOf(domain === null ? undefined : domains.byId(domain)),
      path: `/${shownAlias(key)}`,
      kind,
    })
  const count = async (...[req, domain, alias]: Parameters<Missed['blocked']>) => {
    const found = await targets.get(domain?.id ?? null, aliasKey(alias))
    if (found && 'link' in found) link(req, found, 'blocked')
    else address(req, domain, 'blocked')
  }
  return {
    address,
    link,
    // the answer does not wait: without tables, the miss is not counted
    blocked: (...asked) => void count(...asked).catch(() => {}),
    head: (account) => misses.note({ account, host: '', path: '', kind: headRequests, byPerson: false }),
  }
}
