import type { LinkEvent } from '../../events/links/link.ts'
import { refuseTaken } from '../claims/taken.ts'
import type { Claim } from '../claims/claim.ts'
import { refuse } from '../decider.ts'
import { requireOwned } from '../owned/owned.ts'
import { aliasClaimName, refuseReserved } from './alias.ts'
import { addressesOf, isSame, type LinkAddress, type Place, placesOf, slotOf } from './places.ts'
import type { Link } from './state.ts'

/** addresses of one link, with the main one */
export const mostAddresses = 100

/** Returns the event that adds an address to a link. */
const addition = (id: number, { account }: Link, one: LinkAddress, token: string): LinkEvent => {
  const { address, domain, alias, added } = one
  return { type: 'LinkAddressAdded', data: { id, account, address, domain, alias, added, token } }
}
const removal = (id: number, address: number): LinkEvent => ({ type: 'LinkAddressRemoved', data: { id, address } })

/** What an event says of another main address: a token, and a number where the former one may stay. */
export interface Move {
  readonly token?: string
  readonly address?: number
}
/** How a link moves, and the events that go with it. */
interface Moved {
  readonly move: Move
  readonly events: readonly LinkEvent[]
}

/** Throws `Refused` when a link has no room for one more address. */
const requireRoom = (state: Link) => {
  if (placesOf(state).others.length + 1 >= mostAddresses)
    refuse('too_many', { what: 'link_addresses', max: mostAddresses, field: 'custom' })
}

/** A command that may move a link. */
interface Moving {
  readonly id: number
  /** of the claim of a new address */
  readonly token: string
  readonly keepsOld?: boolean
  readonly now: string
}

/** Returns how a link gets another main address. The former one stays if it is wanted. Throws `Refused`. */
export const moveTo = ({ id, token, keepsOld = false, now }: Moving, state: Link, to: Place): Moved => {
  const { tokens, fields } = state
  const { main, last, others } = placesOf(state)
  if (isSame(to, fields)) return { move: {}, events: [] }
  const known = others.find((one) => isSame(one, to))
  const held = known && tokens.held[slotOf(known.address)]
  if (held === undefined && tokens.fenced.includes(token)) return refuseTaken('alias', 'custom')
  const address = known?.address ?? (keepsOld ? last + 1 : undefined)
  if (keepsOld && !known) requireRoom(state)
  const before = { address: main, domain: fields.domain, alias: fields.alias, added: now }
  return {
    move: { token: held ?? token, ...(address !== undefined && { address }) },
    events: keepsOld ? [addition(id, state, before, tokens.held.alias!)] : [],
  }
}

export interface AddAddress {
  readonly type: 'AddAddress'
  readonly id: number
  readonly account: number
  readonly fields: Place
  readonly now: string
  /** of the claim */
  readonly token: string
}
export interface DeleteAddress {
  readonly type: 'DeleteAddress'
  readonly id: number
  readonly account: number
  readonly address: number
}

/** Returns the event that adds an address; none if the link has it already. Throws `Refused`. */
export const decideAddAddress = (command: AddAddress, given: Link): readonly LinkEvent[] => {
  const { id, account, fields, token, now } = command
  const state = requireOwned(given, account, 'link')
  if (addressesOf(state).some((one) => isSame(one, fields))) return []
  refuseReserved('custom', fields.alias)
  requireRoom(state)
  if (state.tokens.fenced.includes(token)) return refuseTaken('alias', 'custom')
  return [addition(id, state, { ...fields, address: placesOf(state).last + 1, added: now }, token)]
}

/** Returns the event that takes an address away. Throws `Refused` for the main one. */
export const decideDeleteAddress = ({ id, account, address }: DeleteAddress, given: Link): readonly LinkEvent[] => {
  const state = requireOwned(given, account, 'link')
  const { main, others } = placesOf(state)
  if (address === main) return refuse('not_supported', { what: 'main_address' })
  if (!others.some((one) => one.address === address)) return refuse('not_found', { what: 'address' })
  return [removal(id, address)]
}

/** What the addresses of a restored link are to be. */
interface Wanted {
  readonly id: number
  /** of the claim of the main address; those of the others are made of it */
  readonly token: string
  /** numbers of addresses that others have now */
  readonly without: readonly number[]
  /** the addresses that it had, the main one first */
  readonly to: readonly LinkAddress[]
  readonly now: string
}

/** Returns how a link gets the addresses that it had. Throws `Refused`. */
export const moveBack = ({ id, token, without, to, now: added }: Wanted, state: Link): Moved => {
  const isDeleted = state.status === 'deleted'
  const [before] = addressesOf(state)
  const { main: number, others: now, ...places } = placesOf(state)
  const [main, ...further] = to
  let { last } = places
  const used = new Set(now.map(({ address }) => address))
  /** Returns the number that an address gets: the one that it had, unless another address has that. */
  const numbered = (wanted: number) => {
    const free = used.has(wanted) ? ++last : wanted
    used.add(free)
    return free
  }

  const stays = isSame(main!, before!)
  const known = now.find((one) => isSame(one, main!))
  const address = stays ? number : (known?.address ?? numbered(main!.address))
  used.add(address)
  const held = known && state.tokens.held[slotOf(known.address)]
  const claims = isDeleted || (!stays && held === undefined)
  if (claims && state.tokens.fenced.includes(token)) return refuseTaken('alias', 'custom')
  const move = {
    ...((claims || !stays) && { token: held ?? token }),
    ...(address !== number && { address }),
  }

  const gone = now.filter((one) => one !== known && !to.some((wanted) => isSame(wanted, one)))
  const missing = further.filter((one) => !now.some((has) => isSame(has, one)) && !without.includes(one.address))
  const isFormer = (one: LinkAddress) => !isDeleted && isSame(one, before!)
  return {
    move,
    events: [
      ...gone.map((one) => removal(id, one.address)),
      // the former main one has its claim already, and its number unless the main one has that now
      ...missing
        .toSorted((a, b) => Number(isFormer(b)) - Number(isFormer(a)))
        .map((one) => {
          const former = isFormer(one)
          const as = numbered(former && address !== number ? number : one.address)
          const claim = former ? state.tokens.held.alias! : `${token}-${as}`
          return addition(id, state, { ...(former ? before! : one), address: as, added }, claim)
        }),
    ],
  }
}

/** Returns the claims that the events of a link in a state need. */
export const claimsOf = (events: readonly LinkEvent[], { fields, tokens }: Link): readonly Claim[] => {
  const held = new Set(Object.values(tokens.held))
  const claims = events.flatMap((event): readonly (Place & { readonly token?: string | undefined })[] => {
    switch (event.type) {
      case 'LinkCreated':
      case 'LinkAddressAdded':
        return [event.data]
      case 'LinkUpdated':
      case 'LinkRestored': {
        const { domain = fields.domain, alias = fields.alias } = event.data.changes
        return [{ domain, alias, token: event.data.token }]
      }
      default:
        return []
    }
  })
  return claims.flatMap(({ token, ...place }) =>
    token === undefined || held.has(token) ? [] : [{ kind: 'alias' as const, name: aliasClaimName(place), token }],
  )
}
