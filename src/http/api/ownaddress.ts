import type { IncomingMessage } from 'node:http'
import { isWeb, webHost } from '../../lib/schemes.ts'
import { failField } from './errors.ts'

/** Tells hosts that lead here from others. */
export interface OurHosts {
  /** Whether a host belongs to the service or to any branded domain. */
  readonly isOurHost: (host: string) => boolean
}

/**
 * Fails with 400 when one of the addresses, by field, leads to the service itself or to a branded domain: redirects
 * could loop.
 */
export const rejectOwnAddresses = (
  fields: Readonly<Record<string, readonly (string | undefined)[]>>,
  { isOurHost }: OurHosts,
) => {
  for (const [field, addresses] of Object.entries(fields))
    for (const address of addresses)
      if (address && isWeb(address) && isOurHost(webHost(address))) failField(field, 'own_address', {})
}

/** One spelling for the default ports: a request does not say whether its visitor used https. */
const withoutDefaultPort = (host: string) =>
  host
    .toLowerCase()
    .replace(/:(?:80|443)$/, '')
    .replace(/\.(?=$|:\d+$)/, '')

/**
 * Returns a test for our hosts that also knows the one that the request names. The request came here by it, so it leads
 * here, even when it is a name or a forwarded address that no setting mentions.
 */
export const withRequestedHost = (
  { headers: { host: requested } }: Pick<IncomingMessage, 'headers'>,
  isOurHost: (host: string) => boolean,
) => {
  if (!requested) return isOurHost
  const here = withoutDefaultPort(requested)
  return (host: string) => isOurHost(host) || withoutDefaultPort(host) === here
}
