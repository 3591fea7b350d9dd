import { BlockList, isIP } from 'node:net'
import { plainAddress } from './address.ts'

/** An address, or a network in CIDR notation; the prefix of an address is all of its bits. */
const parse = (text: string) => {
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const family = isIP(plainAddress(address))
  const bits = family === 4 ? 32 : 128
  const length = prefix === undefined ? bits : Number(prefix)
  // an IPv4 network in IPv6 notation would have a prefix that counts other bits
  if (family === 0 || length > bits || isIP(address) !== family) return undefined
  return { address: plainAddress(address), length, family: family === 4 ? ('ipv4' as const) : ('ipv6' as const) }
}

/** Whether the text is an IP address, or a network such as `10.0.0.0/8` or `2001:db8::/32`. */
export const isNetwork = (text: string) => parse(text) !== undefined

/** Returns the networks in a text that separates them by spaces, without words that are none. */
export const networksIn = (text: string): readonly string[] => text.split(' ').filter(isNetwork)

/** Whether all addresses of a network are in one of the others. */
export const isWithin = (network: string, others: readonly string[]) => {
  const inner = parse(network)
  return (
    inner !== undefined &&
    others.some((other) => inner.length >= parse(other)!.length && inNetworks([other])(inner.address))
  )
}

/** Returns a function that says whether an address, in any spelling, is in one of the networks. */
export const inNetworks = (networks: readonly string[]) => {
  const list = new BlockList()
  for (const text of networks) {
    const { address, length, family } = parse(text)!
    list.addSubnet(address, length, family)
  }
  return (address: string) => {
    const plain = plainAddress(address)
    return plain !== '' && list.check(plain, plain.includes(':') ? 'ipv6' : 'ipv4')
  }
}
