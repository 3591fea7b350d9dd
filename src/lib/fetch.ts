import { promises as dns } from 'node:dns'
import { once } from 'node:events'
import http, { type IncomingMessage, type RequestOptions } from 'node:http'
import https from 'node:https'
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net'

/** What was fetched, or why it was not (to follow the field's name). */
export type Fetched = { readonly ok: true; readonly body: Buffer } | { readonly ok: false; readonly problem: string }
export type GuardedFetch = (url: string) => Promise<Fetched>

/** What a fetch is guarded by. These are no settings: nobody can configure a service open. */
export interface Guard {
  /** all addresses of a host; rejects when it has none */
  readonly resolve: (host: string) => Promise<readonly string[]>
  readonly denied: (address: string) => boolean
  readonly ports: readonly number[]
}

/** ms for everything from the look-up to the last byte; bytes of the body */
const [patience, limit] = [5000, 512 * 1024]

const listed = (family: 'ipv4' | 'ipv6', subnets: string) => {
  const list = new BlockList()
  for (const subnet of subnets.split(' ')) {
    const [net = '', prefix] = subnet.split('/')
    list.addSubnet(net, Number(prefix), family)
  }
  return (address: string) => list.check(address, family)
}
/** IANA's special-purpose IPv4 addresses, multicast, and what was never given out. */
const inner4 = listed(
  'ipv4',
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4',
)
/** All but 2000::/3, the only part that is given out; in it protocols' own (Teredo among them), documentation and 6to4. */
const inner6 = listed('ipv6', '::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20')

/** The IPv4 address inside an IPv4-mapped (RFC 4291) or NAT64 (RFC 6052) address. */
const embedded = (address: string) => {
  const { hostname } = new URL(`http://[${address}]`)
  const [, high = '', low = ''] = /^\[(?:::ffff|64:ff9b:):([\da-f]{1,4}):([\da-f]{1,4})\]$/.exec(hostname) ?? []
  const bytes = [high, low].map((group) => Number.parseInt(group, 16)).flatMap((n) => [n >> 8, n & 255])
  return high ? bytes.join('.') : undefined
}

/** An address that is not on the public net, or cannot be told to be. */
export const isInner = (address: string): boolean => {
  if (isIPv4(address)) return inner4(address)
  if (isIP(address) === 0 || address.includes('%')) return true
  const inside = embedded(address)
  return inside === undefined ? inner6(address) : inner4(inside)
}

const allAddresses = async (host: string) =>
  (await dns.lookup(host, { all: true, verbatim: true })).map(({ address }) => address)

const no = (problem: string): Fetched => ({ ok: false, problem })

/** Connects to these addresses and no other: the name is not looked up again. */
const only =
  (addresses: readonly string[]): LookupFunction =>
  (_host, { all }, callback) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }))
    const [first] = found
    if (all || !first) callback(null, found)
    else callback(null, first.address, first.family)
  }

const answerOf = async (url: URL, options: RequestOptions) => {
  const request = (url.protocol === 'https:' ? https : http).request(url, options)
  const answered = once(request, 'response') as Promise<[IncomingMessage]>
  // what goes wrong after the answer has begun is told by the answer
  request.on('error', () => {})
  request.end()
  const [answer] = await answered
  return answer
}

const bodyOf = async (answer: IncomingMessage): Promise<Fetched> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limit) return no('is larger than 512 KiB')
    chunks.push(chunk)
  }
  return { ok: true, body: Buffer.concat(chunks) }
}

/**
 * The one way in which the service asks others for something: one GET of a public http or https address. No redirect is followed, no
 * address inside a network is connected to, whatever the host's name says and however often, and all is over after 5 seconds or 512 KiB.
 */
export const openFetch = ({
  resolve = allAddresses,
  denied = isInner,
  ports = [80, 443],
}: Partial<Guard> = {}): GuardedFetch => {
  const fetched = async (address: string, signal: AbortSignal): Promise<Fetched> => {
    const url = new URL(address)
    const { protocol, username, password } = url
    if (!/^https?:$/.test(protocol) || username || password) return no('must be an http or https address')
    const port = Number(url.port || (protocol === 'https:' ? 443 : 80))
    if (!ports.includes(port)) return no('must be on port 80 or 443')
    const host = url.hostname.replaceAll(/^\[|\]$/g, '')
    const addresses = isIP(host) === 0 ? await resolve(host) : [host]
    if (addresses.length === 0 || addresses.some(denied)) return no('must be at an address on the public internet')
    signal.throwIfAborted()
    const answer = await answerOf(url, {
      agent: false,
      signal,
      lookup: only(addresses),
      headers: { Accept: 'image/png, image/jpeg', 'User-Agent': 'Linkledger' },
    })
    const { statusCode = 0 } = answer
    if (statusCode === 200) return bodyOf(answer)
    answer.destroy()
    return statusCode >= 300 && statusCode < 400
      ? no('is redirected: give the address that it leads to')
      : no(`was answered with the status ${statusCode}`)
  }

  return async (address) => {
    const signal = AbortSignal.timeout(patience)
    const late = once(signal, 'abort').then(() => no('was not answered within 5 seconds'))
    const found = fetched(address, signal).catch(() =>
      signal.aborted ? late : no('could not be fetched: its server was not reached'),
    )
    return Promise.race([found, late])
  }
}
