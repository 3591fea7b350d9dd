import type { z } from 'zod'
import { addressesOf, isSame, type LinkAddress as Placed, type Place } from '../../commands/links/places.ts'
import { withRandomAlias } from '../../commands/links/alias.ts'
import { shownAlias } from '../../lib/short/alias.ts'
import { claimToken } from '../../commands/links/brought.ts'
import { link } from '../../commands/links/link.ts'
import type { Link } from '../../commands/links/state.ts'
import type { DomainEvent } from '../../events/index.ts'
import { timestamp } from '../../lib/fields.ts'
import type { LinkListRow, LinkRow } from '../../queries/links/link.ts'
import type { Count } from '../../queries/statistics/labels.ts'
import { byId, flag, pathId } from '../api/fields.ts'
import { ownedBy } from '../api/owned.ts'
import { endpoint, type Route } from '../api/route.ts'
import { aliasOn, isExactOn, type LinkAddresses, origin, short } from './address.ts'
import { LinkBody, sentFields } from './body.ts'
import { addressContract, type LinkAddress } from './contract/addresses.ts'
import { checkFraming, type LinkWriter, type LinkWriting, rejectBlockedPlace } from './write.ts'

type Addressed = Pick<LinkRow & LinkListRow, 'id' | 'alias' | 'domain' | 'created' | 'main' | 'others'>

/** Returns the addresses of a link, the main one first, without their clicks. */
export const listedAddresses = ({ main, alias, domain, created, others }: Addressed, services: LinkAddresses) =>
  [{ address: main, alias, domain, added: created }, ...(others ?? [])].map((one) => ({
    id: one.address,
    shorturl: short(one, services),
    domain: origin(one, services),
    alias: shownAlias(one.alias),
    main: one.address === main,
    date: timestamp(new Date(one.added)),
  }))

/** Returns the addresses of a link with their clicks, which are counted by the numbers of addresses. */
export const countedAddresses = (
  row: Addressed,
  counts: readonly Count[],
  services: LinkAddresses,
): readonly LinkAddress[] =>
  listedAddresses(row, services).map((one) => ({
    ...one,
    clicks: counts.find(({ label }) => label === String(one.id))?.n ?? 0,
  }))

interface Adding {
  readonly events: readonly DomainEvent[]
  readonly main: boolean
  readonly fields: Place
}
/**
 * Returns the address that a link was given. One by an earlier execution of the request has the alias that was random
 * then: its number is in the event.
 */
const addedTo = (state: Link, { main, events, fields }: Adding): Placed => {
  const all = addressesOf(state)
  if (main) return all[0]!
  const added = events.find((one) => one.type === 'LinkAddressAdded')
  return all.find((one) => (added ? one.address === added.data.address : isSame(one, fields)))!
}

/** The body of a request for one more address. */
export const NewAddress = LinkBody.pick({ custom: true, domain: true }).extend({ main: flag.optional() })

/**
 * Gives a link one more address, under a random alias unless the body has one. Returns that, and the link. `by`: the
 * import that brings it.
 */
export const addAddress = async (
  caller: LinkWriter,
  id: number,
  { main = false, ...sent }: z.output<typeof NewAddress>,
  services: LinkWriting,
  by?: string,
) => {
  const { account, write } = caller
  const { domain = null, alias: wanted = '' } = await sentFields(sent, caller, services)
  const common = { id, account, token: claimToken(by), now: new Date().toISOString() }
  const add = async (alias: string) => {
    const fields = { domain, alias: aliasOn(domain, alias, services) }
    await rejectBlockedPlace(caller, id, () => fields, services)
    const { state, events, revision } = await (main
      ? write(link, {
          type: 'UpdateLink',
          ...common,
          changes: fields,
          exact: isExactOn(domain, services),
          keepsOld: true,
        })
      : write(link, { type: 'AddAddress', ...common, fields }))
    checkFraming(id, state, services)
    return { state, added: addedTo(state, { main, events, fields }), revision }
  }
  return wanted ? add(wanted) : withRandomAlias(add)
}

/** Routes of the addresses that a link has besides its main one. */
export const addressRoutes = (services: LinkWriting): readonly Route[] => [
  endpoint(addressContract, 'POST /api/url/:id/addresses', {
    single: true,
    scope: 'links:write',
    params: byId,
    owner: ownedBy(link),
    body: NewAddress,
    run: async (call) => {
      const { added, revision } = await addAddress(call, call.params.id, call.body, services)
      return { id: added.address, shorturl: short(added, services), revision }
    },
  }),

  endpoint(addressContract, 'DELETE /api/url/:id/address/:address/delete', {
    single: true,
    scope: 'links:write',
    params: byId.extend({ address: pathId }),
    run: async (call) => {
      const { account, params, write } = call
      const { id, address } = params
      const { revision } = await write(link, { type: 'DeleteAddress', id, account, address })
      const undo = { method: 'POST' as const, path: `/api/url/${id}/restore`, body: { revision: revision - 1 } }
      return { message: 'Address has been removed.', undo, revision }
    },
  }),
]
