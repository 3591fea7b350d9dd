import type { Domains } from '../cache/domains.ts'
import type { Config } from '../config.ts'
import { normalHost } from '../lib/url.ts'

/** Returns two tests for host names. */
export const ourHosts = ({ BASE_URL }: Pick<Config, 'BASE_URL'>, domains: Pick<Domains, 'byHost'>) => {
  const main = normalHost(new URL(BASE_URL ?? 'http://localhost').hostname)
  /** Returns whether this is the host of BASE_URL. */
  const isMainHost = (host: string) => normalHost(host) === main
  /** Returns whether this is the host of BASE_URL or a branded domain. */
  const isOurHost = (host: string) =>
    isMainHost(host) || [host, normalHost(host)].some((name) => domains.byHost(name) !== undefined)
  return { isMainHost, isOurHost }
}
