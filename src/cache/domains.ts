import { hostNamed } from '../lib/url.ts'
import type { KnownDomain } from '../queries/domains/domain.ts'

/** All branded domains: a request may name any host, so a lookup must not need the database. */
export interface Domains {
  /**
   * Returns the domain that serves a host, spelled as in a `Host` header or a URL. Its domain is verified and not
   * deleted, and its account is active.
   */
  readonly byHost: (host: string) => KnownDomain | undefined
  /** Returns a domain, also a pending or deleted one. */
  readonly byId: (id: number) => KnownDomain | undefined
  /**
   * Returns the domain of an account at a host, in any spelling: also a pending one, or a deleted one if there is no
   * other.
   */
  readonly own: (account: number, host: string) => KnownDomain | undefined
  /** Stores the current state of domains from the tables. */
  readonly set: (domains: readonly KnownDomain[]) => void
}

/** Hosts are compared in punycode and lower case, without port and trailing dot. */
const normalized = (host: string) => host.toLowerCase().replace(/\.?(?::\d*)?$/, '')
const hostIn = ({ domain }: KnownDomain) => normalized(new URL(domain).host)
const ownKey = (account: number, host: string) => `${account} ${host}`

/** `isExcluded`: hosts that no domain may serve, even if the log has such a domain. */
export const openDomains = (isExcluded: (host: string) => boolean = () => false): Domains => {
  const ids = new Map<number, KnownDomain>()
  const hosts = new Map<string, number>()
  /** ids by account and host; a domain never changes these */
  const owned = new Map<string, ReadonlySet<number>>()

  const setOne = (domain: KnownDomain) => {
    // an earlier read may arrive later
    if (domain.position < (ids.get(domain.id)?.position ?? 0n)) return
    const host = hostIn(domain)
    const key = ownKey(domain.account, host)
    ids.set(domain.id, domain)
    owned.set(key, new Set([...(owned.get(key) ?? []), domain.id]))
    if (domain.live && !isExcluded(host)) hosts.set(host, domain.id)
    else if (hosts.get(host) === domain.id) hosts.delete(host)
  }

  return {
    byHost: (host) => {
      if (hosts.size === 0) return undefined
      const id = hosts.get(normalized(host))
      return id === undefined ? undefined : ids.get(id)
    },
    byId: (id) => ids.get(id),
    own: (account, host) => {
      const found = [...(owned.get(ownKey(account, hostNamed(host))) ?? [])].flatMap((id) => ids.get(id) ?? [])
      // two requests at the same moment may have added the host twice
      return found.find(({ live }) => live) ?? found.find(({ deleted }) => !deleted) ?? found.at(-1)
    },
    set: (domains) => domains.forEach(setOne),
  }
}
