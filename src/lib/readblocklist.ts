import { setImmediate as nextTurn } from 'node:timers/promises'
import { isIP } from 'node:net'
import { getPublicSuffix } from 'tldts'
import { turnTimer } from './async/pause.ts'
import { cut, textLimits } from './strangers.ts'
import { type BlockList, blockList, readHost, readPattern, readUrl } from './blocklist.ts'

/** A list, and the lines that could not be read. */
export interface ReadList {
  readonly list: BlockList
  /** number of lines that are no host, address or pattern */
  readonly unread: number
  /** the first of them, with its number */
  readonly first: string | undefined
}

/** Names that every hosts file has for the machine itself. */
const local = /^(?:local|localhost|localhost\.localdomain|broadcasthost|ip6-\w+|0\.0\.0\.0)$/

/** Returns the hosts of a line: `0.0.0.0 evil.example www.evil.example`, or a single host. */
const hostsOf = (words: readonly string[]) =>
  words.length > 1 && isIP(words[0] ?? '') > 0 ? words.slice(1).filter((word) => !local.test(word)) : words

/**
 * Reads a list: one host or address a line, or lines of a hosts file, with comments after `#`. `operators` is the
 * operator's own file, which may have patterns and top-level domains. In a list from elsewhere, an address covers only
 * itself, a host without a dot is left out, and a public suffix such as `co.uk` does not cover the hosts below it. The
 * service answers requests between parts of a long list.
 */
export const readBlockList = async (text: string, source: 'operators' | 'others'): Promise<ReadList> => {
  const [hosts, alone] = [new Set<string>(), new Set<string>()]
  const [urls, patterns] = [new Set<string>(), new Set<string>()]
  let unread = 0
  let first: string | undefined

  const add = (word: string): boolean => {
    const host = readHost(word)
    if (host !== undefined && source === 'operators') hosts.add(host)
    else if (host === undefined) {
      const [read, rules] = source === 'operators' ? [readPattern, patterns] : [readUrl, urls]
      const rule = read(word)
      if (rule === undefined) return false
      rules.add(rule)
    } else if (isIP(host) > 0 || getPublicSuffix(host, { allowPrivateDomains: true }) !== host) hosts.add(host)
    else if (host.includes('.')) alone.add(host)
    return true
  }

  const isLong = turnTimer()
  let number = 0
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\n', at)
    const line = text.slice(at, end < 0 ? text.length : end)
    at += line.length + 1
    number++
    if (isLong()) await nextTurn()
    const isRead = line.length <= textLimits.listLine
    const words = cut('listLine', line)
      .replace(/(?:^|\s)#.*$/s, '')
      .trim()
      .split(/\s+/)
      .filter(Boolean)
    const read = hostsOf(words)
    if (isRead && (read.length > 1 && read === words ? false : read.every(add))) continue
    unread++
    first ??= `line ${number}: ${cut('listLine', line).trim().slice(0, 80)}`
  }
  return { list: blockList({ hosts, alone, urls, patterns: [...patterns] }), unread, first }
}
