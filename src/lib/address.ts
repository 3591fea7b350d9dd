import { isIP } from 'node:net'
import type { IncomingMessage } from 'node:http'

/**
 * Returns the client's address: the socket's, or with `hops` trusted proxies the one that the outermost proxy saw.
 * Entries further left in `X-Forwarded-For` come from the client and prove nothing.
 */
export const clientAddress = ({ socket, headers }: IncomingMessage, hops: number): string => {
  const peer = socket.remoteAddress ?? ''
  if (hops === 0) return peer
  const forwarded = [headers['x-forwarded-for'] ?? []]
    .flat()
    .join(',')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
  return forwarded.at(-hops) ?? forwarded[0] ?? peer
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

/** Returns one spelling per IP address: no zone, IPv6 compressed in lower case, IPv4-mapped addresses as IPv4; `` when it is not an IP address. */
export const plainAddress = (address: string): string => {
  const text = address.slice(0, 64).replace(/%.*$/, '')
  const family = isIP(text)
  if (family !== 6) return family === 4 ? text : ''
  const compressed = new URL(`http://[${text}]`).hostname.slice(1, -1)
  return embeddedIPv4('::ffff', compressed) ?? compressed
}

/** Returns the unit by which requests are counted: the /64 of an IPv6 address, because one customer has all of it; any other address itself. */
export const addressBlock = (address: string): string => {
  const plain = plainAddress(address)
  if (!plain.includes(':')) return plain || address
  const [head = '', tail] = plain.split('::')
  const [left, right] = [head, tail ?? ''].map((half) => (half === '' ? [] : half.split(':')))
  const zeros = Array<string>(8 - (left?.length ?? 0) - (right?.length ?? 0)).fill('0')
  return `${[...(left ?? []), ...zeros, ...(right ?? [])].slice(0, 4).join(':')}::/64`
}
