import { z } from 'zod'
import type { EventOf } from '../event.ts'
import { openEnum } from '../openenum.ts'
import { ownedSchemas, sealedTexts } from '../owned.ts'

const fields = {
  name: z.string(),
  description: z.string(),
  /** color of its badge, `#rrggbb` in any letter case */
  color: z.string(),
  starred: z.boolean(),
}
export type ChannelFields = z.infer<z.ZodObject<typeof fields>>

/** The kinds of items in a channel: links, bio pages and QR codes. */
export const ItemKind = z.enum(['links', 'bio', 'qr'])
export type ItemKind = z.infer<typeof ItemKind>
export const ItemRef = z.object({ kind: openEnum(ItemKind), id: z.int() })
export type ItemRef = z.infer<typeof ItemRef>

const { created, updated, deleted, restored } = ownedSchemas(fields)
export const channelEvents = {
  ChannelCreated: created,
  ChannelUpdated: updated,
  /** Also removes all items from the channel, without an event for each. */
  ChannelDeleted: deleted,
  /** Of a deleted channel: its items are in it again. */
  ChannelRestored: restored,
  ItemAssignedToChannel: z.object({ channel: z.int(), item: ItemRef }),
  ItemRemovedFromChannel: z.object({ channel: z.int(), item: ItemRef }),
}
export const channelTexts = sealedTexts('Channel', { name: '', description: '' })
export type ChannelEvent = EventOf<typeof channelEvents>
