import type { Domains } from '../cache/domains.ts'
import type { Config } from '../config.ts'
import { normalHost } from '../lib/url.ts'

/** Returns which host names lead to this service. */
export const ourHosts = ({ BASE_URL }: Pick<Config, 'BASE_URL'>, domains: Pick<Domains, 'byHost'>) => {
  const own = normalHost(new URL(BASE_URL ?? 'http://localhost').hostname)
  /** The host of BASE_URL. */
  const isOwnHost = (host: string) => normalHost(host) === own
  /** The same, or a branded domain. */
  const isOurs = (host: string) =>
    isOwnHost(host) || [host, normalHost(host)].some((name) => domains.byHost(name) !== undefined)
  return { isOwnHost, isOurs }
}
