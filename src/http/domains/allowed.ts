import type { DomainFields } from '../../events/domains/domain.ts'
import { type Blocking, rejectBlocked } from '../api/blockedaddress.ts'
import { failField } from '../api/errors.ts'
import { type OurHosts, rejectOwnAddresses } from '../api/ownaddress.ts'

/** What tells the hosts that no account may have. */
export interface ServiceHosts extends Blocking {
  /** Whether a host, in any spelling, is the service's own. */
  readonly isMainHost: (host: string) => boolean
  /** Whether OWN_HOSTS has a host, in any spelling. */
  readonly isOperatorHost: (host: string) => boolean
}

/** A host that became one of the service's own, or was blocked, after it was added cannot be verified either. */
export const rejectServiceHost = (host: string, { isMainHost, isOperatorHost, blocks }: ServiceHosts) => {
  if (isMainHost(host) || isOperatorHost(host)) failField('domain', 'own_address', { what: 'host' })
  if (blocks.domain(host)) failField('domain', 'blocked', { what: 'host' })
}

/** Fails with 400 when a domain may not lead to one of the addresses in some of its fields. */
export const rejectRedirects = (
  { redirectroot, redirect404 }: { [F in 'redirectroot' | 'redirect404']?: DomainFields[F] | undefined },
  services: OurHosts & Blocking,
) => {
  const addresses = { redirectroot: [redirectroot], redirect404: [redirect404] }
  rejectOwnAddresses(addresses, services)
  rejectBlocked(addresses, services)
}
