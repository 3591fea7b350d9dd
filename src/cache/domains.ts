import type { KnownDomain } from '../queries/domain.ts'

/** The branded domains that this process knows: all of them, for any request may name any host. */
export interface Domains {
  /** The living domain at a host, as a request or an address spells it. */
  readonly byHost: (host: string) => KnownDomain | undefined
  /** A deleted one too. */
  readonly byId: (id: number) => KnownDomain | undefined
  readonly know: (domains: readonly KnownDomain[]) => void
}

/** A host as it stands in a header or an address, without port and trailing dot; hosts come in punycode. */
const plain = (host: string) => host.toLowerCase().replace(/\.?(?::\d+)?$/, '')

export const openDomains = (): Domains => {
  const ids = new Map<number, KnownDomain>()
  const hosts = new Map<string, number>()
  return {
    byHost: (host) => {
      if (hosts.size === 0) return undefined
      const id = hosts.get(plain(host))
      return id === undefined ? undefined : ids.get(id)
    },
    byId: (id) => ids.get(id),
    know: (domains) => {
      for (const domain of domains) {
        // what was read earlier may arrive later
        if (domain.position < (ids.get(domain.id)?.position ?? 0n)) continue
        const host = plain(new URL(domain.domain).host)
        ids.set(domain.id, domain)
        if (domain.live) hosts.set(host, domain.id)
        else if (hosts.get(host) === domain.id) hosts.delete(host)
      }
    },
  }
}
