import { randomUUID } from 'node:crypto'
import { ItemKind, type ItemRef } from '../../events/links/channel.ts'
import { bio } from '../pages/bio.ts'
import { type Caller, requireOwn } from '../caller.ts'
import { campaign } from './campaign.ts'
import { channel, channelItem } from './channel.ts'
import { refuse } from '../decider.ts'
import { link } from './link.ts'
import { qr } from '../qr/qr.ts'

const requireOwnItem: Readonly<Record<ItemKind, (caller: Caller, id: number) => Promise<unknown>>> = {
  links: (caller, id) => requireOwn(caller, link, id),
  bio: (caller, id) => requireOwn(caller, bio, id),
  qr: (caller, id) => requireOwn(caller, qr, id),
}

const requireBoth = async (caller: Caller, channelId: number, kind: string, itemId: number): Promise<ItemRef> => {
  await requireOwn(caller, channel, channelId)
  const known = ItemKind.safeParse(kind)
  if (!known.success) return refuse('not_one_of', { field: 'type', values: 'links, bio, qr' })
  await requireOwnItem[known.data](caller, itemId)
  return { kind: known.data, id: itemId }
}

/** Puts an item into a channel. Both must exist and belong to the caller. Throws `Refused`. */
export const assignItem = async (caller: Caller, channelId: number, kind: string, itemId: number) => {
  const item = await requireBoth(caller, channelId, kind, itemId)
  await caller.write(channelItem, { type: 'AssignItem', channel: channelId, item })
}

/**
 * Takes an item out of a channel, and returns whether it was in. Both must exist and belong to the caller. Throws
 * `Refused`.
 */
export const removeItem = async (caller: Caller, channelId: number, kind: string, itemId: number) => {
  const item = await requireBoth(caller, channelId, kind, itemId)
  const { events } = await caller.write(channelItem, { type: 'RemoveItem', channel: channelId, item })
  return events.length > 0
}

/**
 * Puts an item into a channel, or takes it out of all channels that it is in. The caller has checked that all of them
 * are its own.
 */
export const changeChannels = async (
  { write }: Pick<Caller, 'write'>,
  item: ItemRef,
  change: { readonly into: number } | { readonly outOf: readonly number[] },
) => {
  if ('into' in change) return void (await write(channelItem, { type: 'AssignItem', channel: change.into, item }))
  await Promise.all(change.outOf.map((id) => write(channelItem, { type: 'RemoveItem', channel: id, item })))
}

/**
 * Puts a link into a campaign, out of the one it was in. Both must exist and belong to the caller. Throws `Refused`.
 */
export const assignLink = async (caller: Caller, campaignId: number, linkId: number) => {
  await requireOwn(caller, campaign, campaignId)
  await caller.write(link, {
    type: 'UpdateLink',
    id: linkId,
    account: caller.account,
    changes: { campaign: campaignId },
    token: randomUUID(),
    now: new Date().toISOString(),
  })
}
