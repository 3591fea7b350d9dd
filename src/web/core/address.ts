import { isLoopback } from '../../lib/loopback.ts'

/** Returns an address as people read it: without `https://`. */
export const withoutScheme = (address: string): string => address.replace(/^https?:\/\//, '')

/** Returns the host and port of a text that is an address which only this machine can open; undefined for any other. */
export const localHostIn = (text: string): string | undefined => {
  const [, host] = /^https?:\/\/([^/?#]+)/.exec(text) ?? []
  return host !== undefined && isLoopback(host.replace(/:\d+$/, '')) ? host : undefined
}
