import { isIPv6 } from 'node:net'
import type { IncomingMessage } from 'node:http'

/**
 * The client's address: the socket's, or behind `hops` trusted proxies the one that the outermost of them saw.
 * Entries of `X-Forwarded-For` further left are the client's own words.
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

/** What requests are counted by: an IPv6 customer has a whole /64. */
export const addressBlock = (address: string): string => {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped) return mapped
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('%')[0]!.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail ? tail.split(':') : []
  const all =
    tail === undefined
      ? left
      : [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]
  return `${all
    .slice(0, 4)
    .map((part) => Number.parseInt(part || '0', 16).toString(16))
    .join(':')}::/64`
}
