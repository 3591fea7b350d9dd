import { z } from 'zod'
import { assignItem, removeItem } from '../../commands/links/assign.ts'
import { channel } from '../../commands/links/channel.ts'
import type { ChannelFields } from '../../events/links/channel.ts'
import { text } from '../../lib/fields.ts'
import { localTime, utc } from '../../lib/zone.ts'
import { findChannel, type ItemRow, listChannels, listItems } from '../../queries/links/channel.ts'
import { channelTotals } from '../../queries/statistics/totals.ts'
import { presentTotals } from '../statistics/totals.ts'
import { byId, colorAsSent, flag, name, orEmpty, orInitial, pathId } from '../api/fields.ts'
import { list, listQuery } from '../api/list/list.ts'
import { endpoint, type Route } from '../api/route.ts'
import { type LinkAddresses, short } from './address.ts'
import { deleteOwned, listOwned, ownedBy, readOwned, updateOwned } from '../api/owned.ts'
import { imageAddress } from '../qr/address.ts'
import { channelContract, channelItems, channels } from './contract/channel.ts'

const { initialState } = channel
const fields = z
  .object({
    name,
    description: orEmpty(text(2000)),
    color: orInitial(colorAsSent, initialState.fields.color),
    starred: flag,
  })
  .partial()

type Presented = ChannelFields & { readonly id: number; readonly revision: number }

const present = ({ id, name, description, color, starred, revision }: Presented) => ({
  id,
  name,
  description,
  color,
  starred,
  revision,
})

/** `preview` is the item's own image, else the favicon address of its destination; the service does not fetch it. */
const presentItem = (row: ItemRow, zone: string | undefined, addresses: LinkAddresses) => {
  const { kind, id, title, image, url, assigned } = row
  const link = kind === 'qr' ? imageAddress(row.alias, addresses.baseUrl) : short(row, addresses)
  const preview = kind === 'qr' ? link : image || `${new URL(url ?? link).origin}/favicon.ico`
  return { type: kind, id, title, preview, link, date: localTime(zone ?? utc, assigned.getTime()).slice(0, 10) }
}

const itemPath = z.object({ channelid: pathId, type: z.string(), itemid: pathId })

/** Items come into a channel, and leave it. */
const itemRoutes: readonly Route[] = [
  endpoint(channelContract, 'POST /api/channel/:channelid/assign/:type/:itemid', {
    scope: 'write',
    limited: true,
    params: itemPath,
    run: async (call) => {
      const { channelid, type, itemid } = call.params
      await assignItem(call, channelid, type, itemid)
      return { message: 'Item has been added to the channel.' }
    },
  }),

  endpoint(channelContract, 'DELETE /api/channel/:channelid/assign/:type/:itemid', {
    scope: 'write',
    limited: true,
    params: itemPath,
    run: async (call) => {
      const { channelid, type, itemid } = call.params
      const wasIn = await removeItem(call, channelid, type, itemid)
      if (!wasIn) return { message: 'The item is not in the channel.', undo: null }
      const undo = { method: 'POST' as const, path: `/api/channel/${channelid}/assign/${type}/${itemid}` }
      return { message: 'Item has been removed from the channel.', undo }
    },
  }),
]

export const channelRoutes = (addresses: LinkAddresses): readonly Route[] => [
  endpoint(channelContract, 'GET /api/channels', { scope: 'read', ...listOwned(channels, listChannels, present) }),

  endpoint(channelContract, 'GET /api/channel/:id', {
    scope: 'read',
    params: byId,
    query: listQuery(channelItems),
    owner: ownedBy(channel),
    run: async (call) => {
      const { account, params } = call
      const listed = await list(
        channelItems,
        call,
        (request) => listItems(call.reader, { id: params.id, account }, request),
        (row) => presentItem(row, call.zone, addresses),
      )
      const row = await readOwned(channel, findChannel, call, params.id)
      const totals = await channelTotals(call.reader, call, params.id)
      return { ...listed, details: present(row), totals: presentTotals(totals) }
    },
  }),

  endpoint(channelContract, 'POST /api/channel/add', {
    scope: 'write',
    limited: true,
    body: fields.extend({ name }),
    run: async ({ account, body, create }) => {
      const fields = { ...initialState.fields, ...body } as ChannelFields
      const make = (id: number) => ({ type: 'Create' as const, id, account, fields })
      const { id, state, revision } = await create('channel', channel, make)
      return present({ ...state.fields, id, revision })
    },
  }),

  ...itemRoutes,

  endpoint(channelContract, 'PUT /api/channel/:id/update', updateOwned('channel', channel, fields)),

  endpoint(channelContract, 'DELETE /api/channel/:id/delete', deleteOwned('channel', channel)),
]
