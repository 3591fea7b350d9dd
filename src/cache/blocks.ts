import { shownAlias } from '../lib/short/alias.ts'
import { blockedAddress, blockedOn, blockId } from '../commands/operator/block.ts'
import { type BlockList, blockList, emptyBlockList, hostKey } from '../lib/blocklist.ts'
import { addressesBehind } from '../lib/schemes.ts'
import type { KnownBlock } from '../queries/operator/block.ts'

/** Why an address is blocked. */
export interface Blocked {
  /** the host or pattern that matches */
  readonly rule: string
  /** what the operator wrote; undefined for a rule of a list */
  readonly reason: string | undefined
}

/**
 * All rules that block addresses: from the operator's commands, from a file, and from a list at a URL. The list of
 * allowed addresses wins over file and URL. Everything is in memory, because every redirect needs it.
 */
export interface Blocks {
  /** Returns why a destination is blocked; undefined if it is not. */
  readonly destination: (url: string) => Blocked | undefined
  readonly link: (id: number) => boolean
  readonly bio: (id: number) => boolean
  readonly campaign: (id: number) => boolean
  /**
   * Returns whether a short address belonged to a link or a bio page that is blocked. `site`: the address of its
   * branded domain, undefined on the service's own host.
   */
  readonly address: (site: string | undefined, alias: string) => boolean
  /** Like `address`, by host: an address stays blocked even when its domain changes hands or is deleted. */
  readonly addressOn: (host: string, alias: string) => boolean
  /** Returns whether a branded domain is blocked, by its host as a `Host` header or a URL has it. */
  readonly domain: (host: string) => boolean
  /** Stores what the operator has blocked or unblocked, read from the log or the tables. */
  readonly set: (blocks: readonly KnownBlock[]) => void
  /** Replaces a list. Entries of `allowed` override the other lists. */
  readonly setList: (source: 'file' | 'url' | 'allowed', list: BlockList) => void
}

const withoutPort = (host: string) => host.replace(/:\d*$/, '')

/**
 * Whether an alias is among addresses, in the form for a host. That may have had a domain with aliases of the other
 * kind when the address was blocked.
 */
const isAmong = (addresses: ReadonlySet<string>, alias: string, formOf: (alias: string) => string) => {
  if (addresses.size === 0) return false
  const text = shownAlias(alias)
  return addresses.has(formOf(text)) || addresses.has(formOf(`/${text}`))
}

export const openBlocks = (): Blocks => {
  const known = new Map<string, KnownBlock>()
  const lists = { file: emptyBlockList, url: emptyBlockList, allowed: emptyBlockList }
  let own = emptyBlockList
  /** lists that have rules: an empty list costs a redirect nothing */
  let used: readonly BlockList[] = []
  /** reasons by host and pattern */
  let reasons: ReadonlyMap<string, string> = new Map()
  /** ids of streams: `link-7`, `domain-go.example.com` */
  let subjects: ReadonlySet<string> = new Set()
  /** host and alias of every current and former address of blocked links and bio pages */
  let addresses: ReadonlySet<string> = new Set()

  const use = () => (used = [own, lists.file, lists.url].filter(({ size }) => size > 0))
  const rebuild = () => {
    const current = [...known].filter(([, { reason }]) => reason !== null)
    const valuesOf = (kind: string) => current.flatMap(([, block]) => (block.kind === kind ? [block.value] : []))
    own = blockList({ hosts: new Set(valuesOf('host')), patterns: valuesOf('pattern') })
    reasons = new Map(current.map(([, { value, reason }]) => [value, reason ?? '']))
    subjects = new Set(current.map(([id]) => id))
    addresses = new Set(current.flatMap(([, block]) => block.addresses))
    use()
  }
  const has = (kind: 'link' | 'bio' | 'campaign' | 'domain', value: string) =>
    subjects.size > 0 && subjects.has(blockId({ kind, value }))

  const find = (url: URL): Blocked | undefined => {
    for (const list of used) {
      const rule = list.find(url)
      if (rule === undefined) continue
      if (list === own) return { rule, reason: reasons.get(rule) }
      return lists.allowed.find(url) === undefined ? { rule, reason: undefined } : undefined
    }
    return undefined
  }

  return {
    destination: (text) => {
      if (used.length === 0) return undefined
      for (const address of [text, ...addressesBehind(text)]) {
        const found = find(new URL(address))
        if (found) return found
      }
      return undefined
    },
    link: (id) => has('link', String(id)),
    address: (site, alias) => isAmong(addresses, alias, (one) => blockedAddress(site, one)),
    addressOn: (host, alias) => isAmong(addresses, alias, (one) => blockedOn(withoutPort(host), one)),
    bio: (id) => has('bio', String(id)),
    campaign: (id) => has('campaign', String(id)),
    domain: (host) => has('domain', hostKey(withoutPort(host).toLowerCase())),
    set: (blocks) => {
      let changed = false
      for (const block of blocks) {
        // only the kinds that this release knows have an id
        const id = blockId(block as Parameters<typeof blockId>[0])
        // an earlier read may arrive later
        if (block.position <= (known.get(id)?.position ?? -1n)) continue
        known.set(id, block)
        changed = true
      }
      if (changed) rebuild()
    },
    setList: (source, list) => {
      lists[source] = list
      use()
    },
  }
}
