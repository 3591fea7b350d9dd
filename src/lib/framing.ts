import type { AnswerHeaders } from './strangers.ts'

/**
 * What keeps a page out of a frame: one of its headers, or a redirect to a host that our own policy does not allow in
 * the frame.
 */
export type FramingReason = 'x-frame-options' | 'frame-ancestors' | 'redirect'

/**
 * Returns the hosts that a frame may load for a destination: its own, and the same one with or without `www.`, to which
 * it often redirects. An address in numbers has no such twin.
 */
export const frameHosts = (url: string): readonly string[] => {
  const { host } = new URL(url)
  if (!/^[\w.-]+\.[a-z][\w-]*(?::\d+)?$/.test(host)) return [host]
  return [host, host.startsWith('www.') ? host.slice(4) : `www.${host}`]
}

const portOf = ({ port, protocol }: URL) => port || (protocol === 'https:' ? '443' : '80')
const isUpgrade = (from: string, to: string) => from === to || (from === 'http:' && to === 'https:')

/**
 * Whether a frame for `destination` on a page of `embedder` may go on to `url`: our policy names the hosts, and
 * browsers load no http on https.
 */
export const mayRedirect = (destination: string, url: URL, embedder: string): boolean =>
  frameHosts(destination).includes(url.host) &&
  isUpgrade(new URL(destination).protocol, url.protocol) &&
  (url.protocol === 'https:' || !embedder.startsWith('https:'))

/** A host in a source list: `[scheme://]host[:port][/path]`; its path says nothing about an ancestor. */
const hostSource = /^(?:([a-z][a-z\d+.-]*):\/\/)?(\*|(?:\*\.)?[a-z\d_.-]+|\[[\da-f:.]+\])(?::(\d+|\*))?(?:\/.*)?$/

const matchesHost = (pattern: string, host: string) =>
  pattern === '*' || (pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern)

const matchesPort = (port: string | undefined, embedder: URL) => {
  if (port === undefined) return embedder.port === ''
  return port === '*' || port === portOf(embedder) || (port === '80' && portOf(embedder) === '443')
}

/**
 * Whether a source expression allows the embedder: CSP 3, 6.7.2.8,
 * https://www.w3.org/TR/CSP3/#match-url-to-source-expression
 */
const allows = (source: string, embedder: URL, self: URL) => {
  if (source === '*') return true
  if (source === `'self'`)
    return (
      embedder.hostname === self.hostname &&
      isUpgrade(self.protocol, embedder.protocol) &&
      (portOf(embedder) === portOf(self) || (self.port === '' && embedder.port === ''))
    )
  const [, scheme] = /^([a-z][a-z\d+.-]*):$/.exec(source) ?? []
  if (scheme !== undefined) return isUpgrade(`${scheme}:`, embedder.protocol)
  const [, hostScheme, host, port] = hostSource.exec(source) ?? []
  if (host === undefined) return false
  return (
    isUpgrade(hostScheme === undefined ? self.protocol : `${hostScheme}:`, embedder.protocol) &&
    matchesHost(host, embedder.hostname) &&
    matchesPort(port, embedder)
  )
}

/**
 * Returns the sources of each `frame-ancestors`. Several headers arrive joined by commas; each policy counts, and in
 * each the first such directive.
 */
const ancestorLists = (policies: string) =>
  policies.split(',').flatMap((policy) => {
    const directives = policy.split(';').map((directive) => directive.trim().toLowerCase().split(/\s+/))
    const found = directives.find(([name]) => name === 'frame-ancestors')
    return found ? [found.slice(1)] : []
  })

/**
 * Whether `X-Frame-Options` keeps a page out: HTML, 7.4.3,
 * https://html.spec.whatwg.org/multipage/document-lifecycle.html#the-x-frame-options-header
 */
const deniesByOption = (header: string, sameOrigin: boolean) => {
  const options = new Set(
    header
      .toLowerCase()
      .split(',')
      .map((option) => option.trim()),
  )
  if (options.size > 1) return ['deny', 'allowall', 'sameorigin'].some((option) => options.has(option))
  return options.has('deny') || (options.has('sameorigin') && !sameOrigin)
}

/**
 * Returns which header of a page keeps it out of a frame on a page of `embedder` (an origin). Only headers count:
 * browsers ignore `frame-ancestors` in a meta tag, and `X-Frame-Options` where `frame-ancestors` is sent.
 */
export const framingRefusal = (headers: AnswerHeaders, page: string, embedder: string): FramingReason | undefined => {
  const [self, above] = [new URL(page), new URL(embedder)]
  const lists = ancestorLists(headers['content-security-policy'] ?? '')
  if (lists.length > 0)
    return lists.every((sources) => sources.some((source) => allows(source, above, self)))
      ? undefined
      : 'frame-ancestors'
  return deniesByOption(headers['x-frame-options'] ?? '', self.origin === above.origin) ? 'x-frame-options' : undefined
}
