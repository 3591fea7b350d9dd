import { isIP } from 'node:net'
import type { IncomingMessage } from 'node:http'

/**
 * The reverse proxies whose `X-Forwarded-For` is believed: a number of them, at any address, or those at certain
 * addresses.
 */
export type TrustedProxies = number | ((address: string) => boolean)

/** Returns whether a connection comes from a trusted proxy. A number of proxies may have any address. */
export const isTrustedPeer = (address: string, proxies: TrustedProxies) =>
  typeof proxies === 'number' ? proxies > 0 : proxies(address)

/** Some proxies add the port of the client: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (entry: string) =>
  /^([\d.]+):\d+$/.exec(entry)?.[1] ?? /^\[(.*)\](?::\d+)?$/.exec(entry)?.[1] ?? entry

/** A client may send thousands of entries; more proxies than this are never in front of a service. */
const maxEntries = 32

const forwardedFor = ({ headers }: IncomingMessage) =>
  [headers['x-forwarded-for'] ?? []]
    .flat()
    .join(',')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
    .slice(-maxEntries)

/**
 * Returns the entry of the outermost trusted proxy. With addresses, that is the first one from the right that is no
 * proxy.
 */
const outermost = (entries: readonly string[], proxies: TrustedProxies) =>
  (typeof proxies === 'number' ? entries.at(-proxies) : entries.findLast((entry) => !proxies(withoutPort(entry)))) ??
  entries[0]

/**
 * Returns the client's address: the connection's, or behind trusted proxies the one that the outermost of them saw.
 * Entries further left in `X-Forwarded-For` come from the client and prove nothing. An entry that is no address is no
 * reason to believe another one.
 */
export const clientAddress = (req: IncomingMessage, proxies: TrustedProxies): string => {
  const peer = req.socket.remoteAddress ?? ''
  if (req.headers['x-forwarded-for'] === undefined || !isTrustedPeer(peer, proxies)) return peer
  return plainAddress(withoutPort(outermost(forwardedFor(req), proxies) ?? '')) || peer
}

/**
 * Returns the IPv4 address (dotted) in the last 32 bits of a compressed IPv6 address that starts with `prefix`:
 * `::ffff` for IPv4-mapped addresses (RFC 4291), `64:ff9b:` for NAT64 (RFC 6052).
 */
export const embeddedIPv4 = (prefix: '::ffff' | '64:ff9b:', address: string): string | undefined => {
  if (!address.startsWith(`${prefix}:`)) return undefined
  const [, high, low] = /^([\da-f]{1,4}):([\da-f]{1,4})$/.exec(address.slice(prefix.length + 1)) ?? []
  if (high === undefined || low === undefined) return undefined
  return [high, low]
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 255])
    .join('.')
}

/**
 * Returns one spelling per IP address: no zone, IPv6 compressed in lower case, IPv4-mapped addresses as IPv4; `` when
 * it is not an IP address.
 */
export const plainAddress = (address: string): string => {
  const text = address.slice(0, 64).replace(/%.*/s, '')
  const family = isIP(text)
  if (family !== 6) return family === 4 ? text : ''
  const compressed = new URL(`http://[${text}]`).hostname.slice(1, -1)
  return embeddedIPv4('::ffff', compressed) ?? compressed
}

/**
 * Returns the unit by which requests are counted: the /64 of an IPv6 address, because one customer has all of it; any
 * other address itself.
 */
export const addressBlock = (address: string): string => {
  const plain = plainAddress(address)
  if (!plain.includes(':')) return plain || address
  const [head = '', tail] = plain.split('::')
  const [left, right] = [head, tail ?? ''].map((half) => (half === '' ? [] : half.split(':')))
  const zeros = Array<string>(8 - (left?.length ?? 0) - (right?.length ?? 0)).fill('0')
  return `${[...(left ?? []), ...zeros, ...(right ?? [])].slice(0, 4).join(':')}::/64`
}

/**
 * Returns the /48 that a /64 is in: what a tunnel or a site has, with 65,536 of them. Any other block is its own site.
 */
export const addressSite = (block: string): string => {
  const [, site] = /^([\da-f]+:[\da-f]+:[\da-f]+):[\da-f]+::\/64$/.exec(block) ?? []
  return site === undefined ? block : `${site}::/48`
}

/** Returns the network of an address that takes turns with others: the site of its block. */
export const networkOf = (address: string): string => addressSite(addressBlock(address))

/** A network by which a client is counted, and how many times the limit of an address block it has. */
export interface CountedNetwork {
  readonly network: string
  readonly times: number
}

/** Returns the networks by which a client is counted: its address block, and the site of a /64, which has thousands. */
export const countedNetworks = (block: string): readonly [CountedNetwork, ...CountedNetwork[]] => {
  const site = addressSite(block)
  return [{ network: block, times: 1 }, ...(site === block ? [] : [{ network: site, times: 4 }])]
}
