import { z } from 'zod'
import {
  type Answer,
  type LinkTotals,
  type Whole,
  address,
  day,
  deleted,
  done,
  id,
  linkTotals,
  listOf,
  ownedFields,
  pageFields,
  type Contract,
  revision,
  success,
  text,
  undo,
  updated,
} from '../../api/contract.ts'

const channel = {
  id,
  name: text.meta({ examples: ['Newsletter'] }),
  description: text,
  color: text.meta({ examples: ['#3b82f6'] }),
  starred: z.boolean(),
  revision,
}
const details = z.object(channel).meta({ id: 'ChannelDetails' })
export type ChannelDetails = Answer<typeof details>
const type = z.enum(['links', 'bio', 'qr'])
const item = z.object({
  type,
  id,
  title: text,
  preview: address.describe('its image, or the favicon address of its destination'),
  link: address,
  date: day.describe('when it was added, by the clocks of `tz`'),
})
export type ChannelItem = Answer<typeof item>
const fields = { color: 'HEX color, with or without the hash' }

const removed = success({ message: text, undo: undo.nullable().describe('null: the item was not in the channel') })

export const channels = listOf('Channel', 'channels', details)
export type ChannelList = Whole<typeof channels>
export const channelItems = listOf('ChannelItem', 'items', item, ['type', 'id'], { details, totals: linkTotals })
export type FoundChannel = Whole<typeof channelItems> & {
  readonly details: ChannelDetails
  readonly totals: LinkTotals
}

export const channelContract = {
  'GET /api/channels': { summary: 'List channels', fields: ownedFields, ...channels },
  'GET /api/channel/:id': {
    summary: 'Get a channel, and list its items',
    description:
      'The latest assignment comes first. `details` is the channel itself, and `totals` has the clicks on its links; QR codes and bio pages count on their own.',
    fields: {
      ...pageFields,
      order: '`date` (latest assignment first, default) or `oldest`',
      from: 'added since this time or day',
      to: 'added before this time, or until the end of this day',
      q: 'part of the title, in any letter case',
    },
    ...channelItems,
  },
  'POST /api/channel/add': {
    summary: 'Create a channel',
    fields,
    example: { name: 'Newsletter', color: '#3b82f6', starred: true },
    answer: success(channel),
  },
  'PUT /api/channel/:id/update': {
    summary: 'Change a channel',
    fields,
    example: { description: 'Every Monday' },
    answer: updated,
  },
  'POST /api/channel/:channelid/assign/:type/:itemid': { summary: 'Add an item to a channel', answer: done },
  'DELETE /api/channel/:channelid/assign/:type/:itemid': { summary: 'Take an item out of a channel', answer: removed },
  'DELETE /api/channel/:id/delete': { summary: 'Delete a channel and keep its items', answer: deleted },
} satisfies Contract
