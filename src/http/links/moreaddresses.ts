import { randomUUID } from 'node:crypto'
import { addressesOf } from '../../commands/links/addresses.ts'
import { aliasKey, withRandomAlias } from '../../commands/links/alias.ts'
import { link } from '../../commands/links/link.ts'
import { hideForeign } from '../../commands/caller.ts'
import { requireOwned } from '../../commands/owned/owned.ts'
import { timestamp } from '../../lib/fields.ts'
import type { LinkListRow, LinkRow } from '../../queries/links/link.ts'
import type { Count } from '../../queries/statistics/labels.ts'
import { fail } from '../api/errors.ts'
import { byId, flag, pathId } from '../api/fields.ts'
import { ownedBy } from '../api/owned.ts'
import { endpoint, type Route } from '../api/route.ts'
import { type LinkAddresses, origin, short } from './address.ts'
import { LinkBody, sentFields } from './body.ts'
import { addressContract, type LinkAddress } from './contract/addresses.ts'
import { type LinkWriting, rejectBlockedPlace } from './write.ts'

type Addressed = Pick<LinkRow & LinkListRow, 'id' | 'alias' | 'domain' | 'created' | 'main' | 'others'>

/** Returns the addresses of a link, the main one first, without their clicks. */
export const listedAddresses = ({ main, alias, domain, created, others }: Addressed, services: LinkAddresses) =>
  [{ address: main, alias, domain, added: created }, ...(others ?? [])].map((one) => ({
    id: one.address,
    shorturl: short(one, services),
    domain: origin(one, services),
    alias: one.alias,
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

const NewAddress = LinkBody.pick({ custom: true, domain: true }).extend({ main: flag.optional() })

/** Routes of the addresses that a link has besides its main one. */
export const addressRoutes = (services: LinkWriting): readonly Route[] => [
  endpoint(addressContract, 'POST /api/url/:id/addresses', {
    single: true,
    scope: 'links:write',
    params: byId,
    owner: ownedBy(link),
    body: NewAddress,
    run: async (call) => {
      const { account, params, body, write } = call
      const { main = false, ...sent } = body
      const { domain = null, alias: wanted = '' } = await sentFields(sent, call, services)
      const common = { id: params.id, account, token: randomUUID(), now: new Date().toISOString() }
      const add = async (alias: string) => {
        const fields = { domain, alias }
        await rejectBlockedPlace(call, params.id, () => fields, services)
        return main
          ? write(link, { type: 'UpdateLink', ...common, changes: fields, keepsOld: true })
          : write(link, { type: 'AddAddress', ...common, fields })
      }
      const { state, revision } = wanted ? await add(wanted) : await withRandomAlias(add)
      const added = wanted
        ? addressesOf(state).find((one) => one.domain === domain && aliasKey(one.alias) === aliasKey(wanted))
        : addressesOf(state).toSorted((a, b) => b.address - a.address)[0]
      return { id: added!.address, shorturl: short(added!, services), revision }
    },
  }),

  endpoint(addressContract, 'DELETE /api/url/:id/address/:address/delete', {
    single: true,
    scope: 'links:write',
    params: byId.extend({ address: pathId }),
    run: async (call) => {
      const { account, params, write, load, limited } = call
      const { id, address } = params
      const { state } = await load(link, id).catch(hideForeign(account, 'link'))
      const named = addressesOf(requireOwned(state, account, 'link')).find((one) => one.address === address)
      if (named && limited?.domains && !limited.domains.includes(named.domain ?? 0))
        fail(403, 'lacks_rights', { what: 'domain' })
      const { revision } = await write(link, { type: 'DeleteAddress', id, account, address })
      const undo = { method: 'POST' as const, path: `/api/url/${id}/restore`, body: { revision: revision - 1 } }
      return { message: 'Address has been removed.', undo, revision }
    },
  }),
]
