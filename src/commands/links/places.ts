import type { Event } from '../../events/index.ts'
import { acquire, release, type Slot, type Tokens } from '../claims/claim.ts'
import { aliasClaimName } from './alias.ts'

/** Where a link can be found: an alias on a domain; null is the service's own host. */
export interface Place {
  readonly domain: number | null
  readonly alias: string
}
/** An address of a link. Its number stays the same when another one becomes the main one. */
export interface LinkAddress extends Place {
  readonly address: number
  /** since when it is one beside the main one (ISO 8601); empty for that */
  readonly added: string
}

/** Returns as what a link has the name of an address besides its main one. */
export const slotOf = (address: number): Slot => `alias ${address}`
export const isSame = (a: Place, b: Place) => aliasClaimName(a) === aliasClaimName(b)

/** The addresses of a link that has or had several. */
export interface Places {
  /** the number of the address that the fields of the link have, and the highest number so far */
  readonly main: number
  readonly last: number
  /** its other addresses, and those that it had when it was deleted */
  readonly others: readonly LinkAddress[]
  readonly released: readonly LinkAddress[]
}
const onePlace: Places = { main: 1, last: 1, others: [], released: [] }

/** A link, as far as it says where it can be found. */
export interface Found {
  readonly fields: Place
  readonly places?: Places
}
/** Returns where a link can be found besides its main address, and the numbers of its addresses. */
export const placesOf = ({ places = onePlace }: Pick<Found, 'places'>): Places => places
/** Returns the addresses of a link, the main one first; of a deleted one, those that it had. */
export const addressesOf = (link: Found): readonly LinkAddress[] => {
  const { main, others, released } = placesOf(link)
  const { domain, alias } = link.fields
  return [{ address: main, domain, alias, added: '' }, ...others, ...released]
}

/** Returns the ids of the domains that a link has addresses on, 0 for the service's own host. */
export const domainsOf = (link: Found): readonly number[] => [
  ...new Set(addressesOf(link).map(({ domain }) => domain ?? 0)),
]

/** What an event changes in the state of a link. */
export interface Placed {
  readonly places?: Places
  readonly tokens: Tokens
}

/** Returns the tokens after an address has become the main one. The claim of one that the link has already goes on. */
const tokensOfMain = (tokens: Tokens, address: number, token: string) => {
  const { [slotOf(address)]: known = token, ...held } = tokens.held
  const spent = known === token ? tokens.spent : [...tokens.spent, known]
  return acquire({ ...tokens, held, spent }, 'alias', token)
}

/** Returns the addresses after another one has become the main one; the former one is gone unless it is added again. */
export const withMain = (state: Placed, data: Event<'LinkUpdated' | 'LinkRestored'>['data']): Placed => {
  const { token, address } = data
  const { main, last, others, released } = placesOf(state)
  const isBack = 'deleted' in data && data.deleted === true
  const places = address !== undefined || (isBack && released.length > 0)
  return {
    ...(places && {
      places: {
        main: address ?? main,
        last: Math.max(last, address ?? 1),
        others: others.filter((one) => one.address !== address),
        released: isBack ? [] : released,
      },
    }),
    tokens: token === undefined ? state.tokens : tokensOfMain(state.tokens, address ?? main, token),
  }
}

/** Returns the addresses after one was added. */
export const withAddress = (state: Placed, data: Event<'LinkAddressAdded'>['data']): Placed => {
  const { address, domain, alias, added, token } = data
  const { last, others, ...same } = placesOf(state)
  return {
    places: { ...same, last: Math.max(last, address), others: [...others, { address, domain, alias, added }] },
    tokens: acquire(state.tokens, slotOf(address), token),
  }
}

/** Returns the addresses after one was removed. */
export const withoutAddress = (state: Placed, address: number): Placed => {
  const places = placesOf(state)
  return {
    places: { ...places, others: places.others.filter((one) => one.address !== address) },
    tokens: release(state.tokens, slotOf(address)),
  }
}

/** Returns the addresses after the link was deleted: it can come back with those that are still free. */
export const withoutAll = ({ places, tokens }: Placed): Placed => ({
  ...(places && { places: { ...places, others: [], released: places.others } }),
  tokens: release(tokens, 'alias', ...(places?.others ?? []).map(({ address }) => slotOf(address))),
})
