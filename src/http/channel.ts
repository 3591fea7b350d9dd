import { z } from 'zod'
import { bio } from '../commands/bio.ts'
import { channel, channelItem } from '../commands/channel.ts'
import { link } from '../commands/link.ts'
import { mine } from '../commands/owned.ts'
import { qr } from '../commands/qr.ts'
import { type ChannelFields, ItemKind } from '../events/channel.ts'
import { type ItemRow, listChannels, listItems } from '../queries/channel.ts'
import { fail } from './api/errors.ts'
import { short } from './link.ts'
import { deleteRoute, existing, listRoute, owns } from './owned.ts'
import { imageAddress } from './qraddress.ts'
import { route, type Services } from './api/route.ts'
import { color, list, must, name, orEmpty, orInitial, page, text, timestamp } from './api/fields.ts'

const label = 'Channel'
const { initialState } = channel
const fields = z
  .object({
    name,
    description: orEmpty(text(2000)),
    color: orInitial(color, initialState.fields.color),
    starred: z.boolean(must('true or false')),
  })
  .partial()

const present = ({ id, name, description, color, starred }: ChannelFields & { readonly id: number }) => ({
  id,
  name,
  description,
  color,
  starred,
})

/** The picture is the item's own, else the favicon of where it leads: nobody else is asked for one. */
const presentItem = (row: ItemRow, services: Services) => {
  const { kind, id, title, image, url, assigned } = row
  const link = kind === 'qr' ? imageAddress(row.alias, services.baseUrl) : short(row, services)
  const preview = kind === 'qr' ? link : image || `${new URL(url ?? link).origin}/favicon.ico`
  return { type: kind, id, title, preview, link, date: timestamp(assigned).slice(0, 10) }
}

/** Throws what an unknown id answers, unless the item is the account's own. */
const ownsItem: Record<ItemKind, (services: Services, account: number, id: number) => Promise<unknown>> = {
  links: async ({ handler }, account, id) => mine((await handler.load(link, id)).state, account, 'Link'),
  bio: (services, account, id) => owns(bio, 'Bio page', services, account, id),
  qr: (services, account, id) => owns(qr, 'QR code', services, account, id),
}

export const channelRoutes = [
  listRoute('/api/channels', 'channels', listChannels, present),

  route({
    method: 'get',
    path: '/api/channel/:id',
    run: async (call, services) => {
      const { id } = await existing(channel, label)(call, services)
      const asked = page(call.query)
      return list('items', asked, await listItems(services.reader, { id, account: call.account }, asked), (row) =>
        presentItem(row, services),
      )
    },
  }),

  route({
    method: 'post',
    path: '/api/channel/add',
    body: fields.extend({ name }),
    run: async ({ account, body, create }) => {
      const fields = { ...initialState.fields, ...body } as ChannelFields
      const made = await create('channel', channel, (id) => ({ type: 'Create' as const, id, account, fields }))
      return present({ ...made.state.fields, id: made.id })
    },
  }),

  route({
    method: 'post',
    path: '/api/channel/:channelid/assign/:type/:itemid',
    run: async ({ account, ids: [channelid = 0, itemid = 0], words: [type], write }, services) => {
      await owns(channel, label, services, account, channelid)
      const kind = ItemKind.options.find((kind) => kind === type) ?? fail(400, 'type: must be one of links, bio, qr.')
      await ownsItem[kind](services, account, itemid)
      await write(channelItem, { type: 'AssignItem', channel: channelid, item: { kind, id: itemid } })
      return { message: 'Item has been added to the channel.' }
    },
  }),

  route({
    method: 'put',
    path: '/api/channel/:id/update',
    body: fields,
    exists: existing(channel, label),
    run: async ({ account, ids: [id = 0], body, write }) => {
      const { state } = await write(channel, { type: 'Update', id, account, changes: body as Partial<ChannelFields> })
      return { message: 'Channel has been updated.', ...present({ ...state.fields, id }) }
    },
  }),

  deleteRoute('/api/channel/:id/delete', channel, label),
]
