import { addressesOf, type Found, isSame, type Place } from '../../commands/links/places.ts'
import { type Blocking, rejectBlocked, rejectBlockedAlias } from '../api/blockedaddress.ts'
import { failField } from '../api/errors.ts'
import { type OurHosts, rejectOwnAddresses } from '../api/ownaddress.ts'
import { type LinkAddresses, siteOf } from './address.ts'
import { rejectSchemes, type Schemes } from './schemes.ts'

/** What the fields of a link are checked with. */
export interface LinkChecks extends LinkAddresses, OurHosts, Blocking, Schemes {}

type Targets = readonly { readonly url: string }[] | undefined
/** Where a link leads, by the names in its events. */
interface Leading {
  readonly url?: string | undefined
  readonly location?: Targets
  readonly device?: Targets
  readonly browser?: Targets
  readonly language?: Targets
  readonly variants?: Targets
  readonly expired_url?: string | undefined
  readonly metaimage?: string | undefined
}
const urlsOf = (targets: Targets = []) => targets.map(({ url }) => url)

/** Fails with 400 when a link may not lead to one of the addresses in some of its fields. */
export const rejectDestinations = (fields: Leading, services: OurHosts & Blocking & Schemes) => {
  const destinations = {
    url: [fields.url],
    geotarget: urlsOf(fields.location),
    devicetarget: urlsOf(fields.device),
    browsertarget: urlsOf(fields.browser),
    languagetarget: urlsOf(fields.language),
    variants: urlsOf(fields.variants),
    expired_url: [fields.expired_url],
  }
  rejectSchemes(destinations, services)
  rejectOwnAddresses(destinations, services)
  rejectBlocked({ ...destinations, metaimage: [fields.metaimage] }, services)
}

/**
 * Fails with 400 when a place is new to a link that is blocked, where it would not be blocked once the link is deleted,
 * or when another link was blocked there. A deleted link has no addresses: all that it comes back with are gained. One
 * that is blocked itself has them again, blocked as before.
 */
export const rejectGainedPlaces = (
  id: number,
  before: Found & { readonly status: string },
  places: readonly Place[],
  services: LinkAddresses & Blocking,
) => {
  const { blocks } = services
  const isBlocked = blocks.link(id)
  const had = before.status === 'deleted' && !isBlocked ? [] : addressesOf(before)
  for (const place of places) {
    if (had.some((one) => isSame(one, place))) continue
    if (isBlocked) failField('custom', 'blocked', { what: 'host' })
    rejectBlockedAlias('custom', { site: siteOf(place, services), alias: place.alias }, services)
  }
}
