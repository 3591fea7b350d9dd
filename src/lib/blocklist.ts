import { isIP } from 'node:net'
import { embeddedIPv4, plainAddress } from './address.ts'
import { textLimits } from './strangers.ts'

/**
 * Rules for addresses that the service does not redirect to. A host covers itself and all hosts below it, an address
 * only itself. A pattern is a host and a path, in which `*` matches any characters.
 */
export interface BlockList {
  /** Returns the rule that an address matches, if any. Its cost depends on the address, not on the number of hosts. */
  readonly find: (url: URL) => string | undefined
  readonly size: number
}

interface Pattern {
  readonly text: string
  /** undefined: any path */
  readonly path: string | undefined
}
/** The rules of a list. `alone` has hosts that do not cover the hosts below them, such as `co.uk`. */
export interface Rules {
  readonly hosts: ReadonlySet<string>
  readonly alone?: ReadonlySet<string>
  /** single addresses, as `readUrl` spells them */
  readonly urls?: ReadonlySet<string>
  readonly patterns?: readonly string[]
}

/**
 * Returns the canonical spelling of an IP address; `` for an invalid one. IPv6-only networks, as of many phones, reach
 * IPv4 addresses through NAT64.
 */
const addressKey = (text: string) => {
  const plain = plainAddress(text)
  return embeddedIPv4('64:ff9b:', plain) ?? plain
}

/**
 * Returns the canonical spelling of a host: no brackets and no trailing dot, IPv4 addresses in IPv6 as IPv4. `host` is
 * as WHATWG URLs have it.
 */
export const hostKey = (host: string): string =>
  host.startsWith('[') ? addressKey(host.slice(1, -1)) : host.replace(/\.$/, '')

const escapes = /(?:%[\da-f]{2})+/gi
const decoded = (run: string) => {
  try {
    return decodeURIComponent(run)
  } catch {
    // letters are decoded even in a run that is not UTF-8
    return run.replaceAll(/%[2-7][\da-f]/gi, (one) => decodeURIComponent(one))
  }
}
/** Decodes the percent-encoded characters of a text. In a run that is not UTF-8, it decodes letters only. */
export const withoutEscapes = (text: string): string => text.replaceAll(escapes, decoded)
/**
 * Returns the canonical spelling of a path: escapes are decoded, repeated slashes are one, and letter case does not
 * matter.
 */
const plainPath = (path: string) =>
  withoutEscapes(path)
    .replaceAll(/\/{2,}/g, '/')
    .toLowerCase()

/**
 * Returns whether the text matches a pattern with `*`. Takes at most the product of their lengths; a regular expression
 * could take forever.
 */
export const matches = (pattern: string, text: string): boolean => {
  let [p, t, star, from] = [0, 0, -1, 0]
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p++
      from = t
    } else if (pattern[p] === text[t]) {
      p++
      t++
    } else if (star >= 0) {
      p = star + 1
      t = ++from
    } else return false
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}

/** The spellings of an address as a rule: without its query, which covers any query, and with it. */
const spellings = (url: URL): readonly string[] => {
  const plain = `${hostKey(url.hostname)}${plainPath(url.pathname)}`
  return url.search === '' ? [plain] : [plain, `${plain}${plainPath(url.search)}`]
}

const inOneSpelling = (text: string) => {
  try {
    return spellings(new URL(text)).at(-1)
  } catch {
    return undefined
  }
}

/**
 * Returns the canonical spelling of a single address, or undefined when the text is not a web address. Scheme, port and
 * fragment make no difference.
 */
export const readUrl = (text: string): string | undefined => {
  const [, host = ''] = /^https?:[/\\]*([^/?#\\]*)/i.exec(text) ?? []
  const isAddress = host.length <= textLimits.host && /^https?:\/\/\S+$/i.test(text)
  return isAddress ? inOneSpelling(text) : undefined
}

const parse = (text: string): Pattern & { readonly host: string } => {
  const slash = text.indexOf('/')
  return slash < 0
    ? { text, host: text, path: undefined }
    : { text, host: text.slice(0, slash), path: text.slice(slash) }
}

/** The host and the hosts that it is below: `a.b.c`, `b.c`, `c`. */
const withParents = (host: string): readonly string[] => {
  if (isIP(host) > 0) return [host]
  const hosts = [host]
  for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) hosts.push(host.slice(dot + 1))
  return hosts
}

export const blockList = ({ hosts, alone = new Set(), urls = new Set(), patterns = [] }: Rules): BlockList => {
  const byHost = new Map<string, Pattern[]>()
  /** patterns with `*` in their host, which a look-up by host cannot find */
  const others: ReturnType<typeof parse>[] = []
  for (const pattern of patterns.map(parse)) {
    const found = byHost.get(pattern.host)
    if (pattern.host.includes('*')) others.push(pattern)
    else if (found) found.push(pattern)
    else byHost.set(pattern.host, [pattern])
  }
  const size = hosts.size + alone.size + urls.size + patterns.length

  const findPattern = (url: URL, host: string, parents: readonly string[]) => {
    let path: string | undefined
    const has = (pattern: Pattern) =>
      pattern.path === undefined ||
      matches(pattern.path, (path ??= plainPath(`${url.pathname}${url.search}${url.hash}`)))
    const own = parents.flatMap((parent) => byHost.get(parent) ?? []).find(has)
    return (own ?? others.find((pattern) => matches(pattern.host, host) && has(pattern)))?.text
  }

  return {
    size,
    find: (url) => {
      if (size === 0) return undefined
      const host = hostKey(url.hostname)
      const parents = withParents(host)
      const byName = parents.find((parent) => hosts.has(parent)) ?? (alone.has(host) ? host : undefined)
      const blocked = byName ?? (urls.size > 0 ? spellings(url).find((one) => urls.has(one)) : undefined)
      if (blocked !== undefined || patterns.length === 0) return blocked
      return findPattern(url, host, parents)
    },
  }
}
export const emptyBlockList = blockList({ hosts: new Set() })

const plainHost = /^(?:[a-z\d_-]{1,63}\.)*[a-z\d_-]{1,63}$/
const anyHost = /^[^\s/?#@\\:[\]*]+$/

/** Returns the canonical spelling of a host, or undefined when the text is not a host. */
export const readHost = (text: string): string | undefined => {
  if (text.length > textLimits.host) return undefined
  const host = text.toLowerCase().replace(/\.$/, '')
  // numbers may be an IPv4 address in another notation
  if (plainHost.test(host) && !/(?:^|\.)(?:\d+|0x[\da-f]*)$/.test(host) && !host.includes('xn--')) return host
  const ip = addressKey(text.replaceAll(/^\[|\]$/g, ''))
  if (ip !== '') return ip
  if (!anyHost.test(host)) return undefined
  try {
    const key = hostKey(new URL(`http://${host}`).hostname)
    return plainHost.test(key) ? key : undefined
  } catch {
    return undefined
  }
}

const patternLimit = 512

/** Returns the canonical spelling of a pattern, or undefined when the text is not a pattern. Drops a leading scheme. */
export const readPattern = (text: string): string | undefined => {
  const [, written = '', path = ''] = /^(?:https?:\/\/)?([^\s/?#@\\:]+)(\/[^\s\p{Cc}\p{Cf}]*)?$/iu.exec(text) ?? []
  const host = written.includes('*') ? written.toLowerCase() : readHost(written)
  if (host === undefined || text.length > patternLimit || !/^[a-z\d._*-]+$/.test(host)) return undefined
  // a pattern for everything would block everything
  return /[^.*]/.test(host) || /[^/*]/.test(path) ? `${host}${plainPath(path)}` : undefined
}
