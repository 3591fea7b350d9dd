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

/**
 * Returns the channels that an item of the account is in, and whether they exist: those that were deleted count again
 * when they are restored. Also while the tables are behind.
 */
export const membershipsOf = async ({ account, load, reader, pending }: Reading, item: ItemRef) => {
  const changed = new Set(pendingChannels(item, pending))
  const projected = new Map((await channelsOfItem(reader, account, item)).map((row) => [row.id, row.exists]))
  const candidates = [...new Set([...projected.keys(), ...changed])].sort((a, b) => a - b)
  const memberships = await Promise.all(
    candidates.map(async (number) => {
      if (changed.has(number) && (await load(channelItem, membershipId(number, item))).state === 'out') return []
      const isPending = changed.has(number) || pending.has(streamId('channel', number))
      const exists = isPending ? (await load(channel, number)).state.status === 'open' : projected.get(number) === true
      return [{ channel: number, exists }]
    }),
  )
  return memberships.flat()
}

/** Returns the ids of the channels that a link of the account is in, also while the tables are behind. */
export const channelsOf = async (reading: Reading, id: number): Promise<number[]> =>
  (await membershipsOf(reading, linkItem(id))).flatMap((one) => (one.exists ? [one.channel] : []))

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
