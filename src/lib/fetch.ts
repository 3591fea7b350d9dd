import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net'
import { embeddedIPv4, plainAddress } from './address.ts'
import { bodyOf, responseTo } from './answer.ts'
import { createLookup, type Lookup } from './lookup.ts'
import { problem, type Problem, type ProblemCode, type Rest } from './problems/problem.ts'
import { type AnswerHeaders, readHeaders } from './strangers.ts'
import { createSemaphore, within } from './async/semaphore.ts'
import { TimedOut, withTimeout } from './async/timeout.ts'

/** The body, or the problem with the address. */
export type Fetched = { readonly ok: true; readonly body: Buffer } | { readonly ok: false; readonly problem: Problem }
/** The account that a fetch is for, and the network of its client. */
export interface Fetching {
  readonly account: number
  readonly network?: string
}
/** Rejects with `Unavailable` when too many fetches of the account wait. */
export type GuardedFetch = (url: string, by?: Fetching) => Promise<Fetched>

/**
 * Status and headers of a response, without its body; undefined without a response, or when the address must not be
 * fetched.
 */
export type Probed = { readonly status: number; readonly headers: AnswerHeaders } | undefined
/** A downloaded file, and the version that its server names; no body means that it has not changed. */
export interface Version {
  readonly etag?: string | undefined
  readonly modified?: string | undefined
}
export type Downloaded =
  | (Version & { readonly ok: true; readonly body: Buffer | undefined })
  | { readonly ok: false; readonly problem: Problem }
export type GuardedDownload = (url: string, known: Version, headers?: OutgoingHttpHeaders) => Promise<Downloaded>

export type GuardedProbe = (url: string, stop?: AbortSignal) => Promise<Probed>

/**
 * The addresses that a fetch may connect to. Tests replace it; no setting does, so that configuration cannot open a
 * service.
 */
export interface Guard {
  readonly resolve: Lookup
  readonly denied: (address: string) => boolean
  readonly ports: readonly number[]
  /** trusted certificates; default those of Node */
  readonly ca?: string
}

/** ms from the DNS lookup to the last byte */
const deadline = 5000
/** bytes of the body */
const sizeLimit = 512 * 1024
/**
 * concurrent fetches: of all accounts, of one account, kept for fetches without an account; and waiting ones of an
 * account
 */
const places = { total: 12, perKey: 3, kept: 4, waiting: 10 }

const listed = (family: 'ipv4' | 'ipv6', subnets: string) => {
  const list = new BlockList()
  for (const subnet of subnets.split(' ')) {
    const [net = '', prefix] = subnet.split('/')
    list.addSubnet(net, Number(prefix), family)
  }
  return (address: string) => list.check(address, family)
}
/**
 * IANA's special-purpose IPv4 ranges (AS112's sinks of private DNS names among them), multicast, the unallocated
 * 240.0.0.0/4, and 168.63.129.16: a public address that is Azure's platform server on each of its machines.
 */
const internal4 = listed(
  'ipv4',
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4',
)
/**
 * Everything outside 2000::/3, the only allocated part; inside it protocol assignments (Teredo among them),
 * documentation, 6to4 and AS112.
 */
const internal6 = listed('ipv6', '::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20')

/** Whether an address is outside the public internet, or cannot be shown to be inside. */
export const isInternal = (address: string): boolean => {
  if (address.includes('%')) return true
  const plain = plainAddress(address)
  const ipv4 = isIPv4(plain) ? plain : embeddedIPv4('64:ff9b:', plain)
  if (ipv4 !== undefined) return internal4(ipv4)
  return plain === '' || internal6(plain)
}

const no = <C extends ProblemCode>(code: C, ...rest: Rest<C>) =>
  ({ ok: false, problem: problem(code, ...rest) }) as const

/** Pins a connection to these addresses: a second DNS lookup could return others. */
const pinnedTo =
  (addresses: readonly string[]): LookupFunction =>
  (_host, { all }, callback) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }))
    const [first] = found
    if (all || !first) callback(null, found)
    else callback(null, first.address, first.family)
  }

const fileOf = async (response: IncomingMessage, limit: number, inWords: string) => {
  const body = await bodyOf(response, limit)
  return body ? ({ ok: true, body } as const) : no('too_large', { what: 'file', max: inWords })
}

const statusProblem = (status: number) =>
  // 304 answers a conditional request, and this one is not
  status >= 300 && status < 400 && status !== 304
    ? no('not_fetched', { what: 'redirect' })
    : no('not_fetched', { what: 'status', status })

interface Sent {
  readonly headers: OutgoingHttpHeaders
  readonly signal: AbortSignal
  readonly body?: string
  /** maximum bytes of the response body to read */
  readonly limit: number
}
/** Returns the response to a GET of a public address, or to a POST when there is a body, or why there is none. */
type Connect = (
  address: string,
  sent: Sent,
) => Promise<{ readonly response: IncomingMessage } | { readonly ok: false; readonly problem: Problem }>

const hostIn = ({ hostname }: URL) => hostname.replaceAll(/^\[|\]$/g, '')
const internal = problem('wrong_address', { what: 'private' })

/** Returns why an address must not be fetched, as far as that is known without DNS. */
export const addressProblem = (
  address: string,
  { denied = isInternal, ports = [80, 443] }: Partial<Guard> = {},
): Problem | undefined => {
  const url = new URL(address)
  const { protocol, username, password, port } = url
  if (!/^https?:$/.test(protocol) || username || password) return problem('wrong_address', { what: 'http' })
  if (!ports.includes(Number(port || (protocol === 'https:' ? 443 : 80))))
    return problem('wrong_address', { what: 'port' })
  const host = hostIn(url)
  return isIP(host) > 0 && denied(host) ? internal : undefined
}

export const connector =
  ({ resolve = createLookup(), denied = isInternal, ca, ...guard }: Partial<Guard>): Connect =>
  async (address, { headers, signal, body, limit }) => {
    const refused = addressProblem(address, { denied, ...guard })
    if (refused) return { ok: false, problem: refused }
    const url = new URL(address)
    const host = hostIn(url)
    const addresses = isIP(host) === 0 ? await resolve(host, signal) : [host]
    if (addresses.length === 0 || addresses.some(denied)) return { ok: false, problem: internal }
    signal.throwIfAborted()
    const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }
    const method = body === undefined ? 'GET' : 'POST'
    const options = { method, headers: { ...headers, 'User-Agent': 'Linkledger', ...length } }
    return { response: await responseTo({ url, host, lookup: pinnedTo(addresses), signal, limit, ca }, options, body) }
  }

/** Runs a request within the deadline, or until it is stopped; then closes everything that is still open. */
export const withinDeadline = async <T>(
  request: (signal: AbortSignal) => Promise<T>,
  ms = deadline,
  stop?: AbortSignal,
): Promise<T> => {
  const controller = new AbortController()
  const abort = () => controller.abort()
  stop?.addEventListener('abort', abort)
  try {
    return await withTimeout(ms, request(controller.signal))
  } finally {
    abort()
    stop?.removeEventListener('abort', abort)
  }
}

/**
 * With `openProbe`, `openDownload` and `openPost`, the only outgoing HTTP request of the service: one GET of a public
 * http or https address. It follows no redirects, connects to no internal address even if DNS returns one, and ends
 * after 5 seconds or 512 KiB. Accounts and networks take turns at it.
 */
export const openFetch = (guard: Partial<Guard> = {}): GuardedFetch => {
  const connect = connector(guard)
  const acquire = createSemaphore<number>(places)
  const get = async (address: string, signal: AbortSignal): Promise<Fetched> => {
    const connected = await connect(address, { headers: { Accept: 'image/png, image/jpeg' }, signal, limit: sizeLimit })
    if (!('response' in connected)) return connected
    const { response } = connected
    const { statusCode = 0 } = response
    if (statusCode === 200) return fileOf(response, sizeLimit, '512 KiB')
    response.destroy()
    return statusProblem(statusCode)
  }

  const fetched = async (address: string): Promise<Fetched> => {
    try {
      return await withinDeadline((signal) => get(address, signal))
    } catch (error) {
      return error instanceof TimedOut
        ? no('not_fetched', { what: 'timeout' })
        : no('not_fetched', { what: 'unreachable' })
    }
  }
  return (address, { account, network } = { account: 0 }) => within(acquire, account, () => fetched(address), network)
}

/** Returns a function that requests a page under the same guard and reads its status and headers only. */
export const openProbe = (guard: Partial<Guard> = {}): GuardedProbe => {
  const connect = connector(guard)
  const head = async (address: string, signal: AbortSignal): Promise<Probed> => {
    const connected = await connect(address, { headers: { Accept: 'text/html, */*;q=0.8' }, signal, limit: 0 })
    if (!('response' in connected)) return undefined
    const { statusCode = 0, headers } = connected.response
    connected.response.destroy()
    return { status: statusCode, headers: readHeaders(headers) }
  }
  // an unreachable server says nothing about the page
  return (address, stop) => withinDeadline((signal) => head(address, signal), deadline, stop).catch(() => undefined)
}

/** ms and bytes for a list, which only the operator can choose */
const download = { deadline: 60_000, limit: 32 * 1024 * 1024 }

/** Returns a function that downloads a large file under the same guard, unless it is still the known version. */
export const openDownload = (guard: Partial<Guard> = {}): GuardedDownload => {
  const connect = connector(guard)
  const get = async (address: string, known: Version, more: OutgoingHttpHeaders, signal: AbortSignal) => {
    const { etag, modified } = known
    const headers = {
      ...more,
      Accept: 'text/plain, */*;q=0.8',
      ...(etag === undefined ? {} : { 'If-None-Match': etag }),
      ...(modified === undefined ? {} : { 'If-Modified-Since': modified }),
    }
    const connected = await connect(address, { headers, signal, limit: download.limit })
    if (!('response' in connected)) return connected
    const { response } = connected
    const { statusCode = 0 } = response
    if (statusCode !== 200) {
      response.destroy()
      const isKnown = statusCode === 304 && (etag ?? modified) !== undefined
      return isKnown ? ({ ok: true, body: undefined, etag, modified } as const) : statusProblem(statusCode)
    }
    const read = await fileOf(response, download.limit, '32 MiB')
    const { etag: newTag, 'last-modified': changed } = readHeaders(response.headers)
    return read.ok ? { ...read, etag: newTag, modified: changed } : read
  }
  return async (address, known, headers = {}) => {
    try {
      return await withinDeadline((signal) => get(address, known, headers, signal), download.deadline)
    } catch (error) {
      return error instanceof TimedOut
        ? no('not_fetched', { what: 'slow' })
        : no('not_fetched', { what: 'unreachable' })
    }
  }
}
