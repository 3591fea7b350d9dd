import { changeChannels } from '../../commands/links/assign.ts'
import type { Caller } from '../../commands/caller.ts'
import { channel, channelItem, membershipId } from '../../commands/links/channel.ts'
import type { ItemRef } from '../../events/links/channel.ts'
import { parseStreamId, streamId } from '../../events/streams.ts'
import { channelsOfItem } from '../../queries/links/channel.ts'
import type { Reading } from '../api/route.ts'

const linkItem = (id: number): ItemRef => ({ kind: 'links', id })

/**
 * Returns the channels into which a link was put, or from which it was taken, by events that are not in the tables yet.
 */
const pendingChannels = (item: ItemRef, pending: Reading['pending']) =>
  pending.list(streamId('channelitem', '')).flatMap((stream) => {
    const number = Number.parseInt(parseStreamId(stream).id, 10)
    return stream === streamId('channelitem', membershipId(number, item)) ? [number] : []
  })

/** Returns the ids of the channels that a link of the account is in, also while the tables are behind. */
export const channelsOf = async ({ account, load, reader, pending }: Reading, id: number): Promise<number[]> => {
  const item = linkItem(id)
  const changed = new Set(pendingChannels(item, pending))
  const projected = await channelsOfItem(reader, account, item)
  const candidates = [...new Set([...projected, ...changed])].sort((a, b) => a - b)
  const contains = async (number: number) => {
    if (changed.has(number) && (await load(channelItem, membershipId(number, item))).state === 'out') return false
    if (!changed.has(number) && !pending.has(streamId('channel', number))) return true
    return (await load(channel, number)).state.status === 'open'
  }
  const kept = await Promise.all(candidates.map(contains))
  return candidates.filter((_, i) => kept[i])
}

/** Applies the field `channel` of a link: an id puts it into that channel, null takes it out of all of them. */
export const applyChannel = async (
  caller: Caller & Reading,
  id: number,
  given: number | null | undefined,
): Promise<void> => {
  if (given === undefined) return
  const change = given === null ? { outOf: await channelsOf(caller, id) } : { into: given }
  await changeChannels(caller, linkItem(id), change)
}
