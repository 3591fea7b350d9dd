import type { KnownDomain } from '../queries/domain.ts'

/** All branded domains: a request may name any host, so a lookup must not need the database. */
export interface Domains {
  /** Returns the verified, not deleted domain at a host, spelled as in a `Host` header or a URL. */
  readonly byHost: (host: string) => KnownDomain | undefined
  /** Returns a domain, also a deleted one. */
  readonly byId: (id: number) => KnownDomain | undefined
  /** Stores domains as the tables have them now. */
  readonly set: (domains: readonly KnownDomain[]) => void
}

/** Hosts are compared in punycode and lower case, without port and trailing dot. */
const normalized = (host: string) => host.toLowerCase().replace(/\.?(?::\d+)?$/, '')

export const openDomains = (): Domains => {
  const ids = new Map<number, KnownDomain>()
  const hosts = new Map<string, number>()
  return {
    byHost: (host) => {
      if (hosts.size === 0) return undefined
      const id = hosts.get(normalized(host))
      return id === undefined ? undefined : ids.get(id)
    },
    byId: (id) => ids.get(id),
    set: (domains) => {
      for (const domain of domains) {
        // an earlier read may arrive later
        if (domain.position < (ids.get(domain.id)?.position ?? 0n)) continue
        const host = normalized(new URL(domain.domain).host)
        ids.set(domain.id, domain)
        if (domain.live) hosts.set(host, domain.id)
        else if (hosts.get(host) === domain.id) hosts.delete(host)
      }
    },
  }
}
