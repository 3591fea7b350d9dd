import { changeChannels } from '../../commands/links/assign.ts'
import type { Caller } from '../../commands/caller.ts'
import { type Decider, isRefused } from '../../commands/decider.ts'
import type { DomainEvent } from '../../events/index.ts'
import { channel, channelItem, membershipId } from '../../commands/links/channel.ts'
import type { ItemRef } from '../../events/links/channel.ts'
import { parseStreamId, streamId } from '../../events/streams.ts'
import { channelsOfItem } from '../../queries/links/channel.ts'
import type { Reading } from '../api/route.ts'

const linkItem = (id: number): ItemRef => ({ kind: 'links', id })

/**
 * Returns whether a resource is not deleted; `otherwise` for one that the caller may not see, because another member
 * has made it.
 */
export const isOpen = async <S extends { readonly status: string }, E extends DomainEvent>(
  { load }: Pick<Reading, 'load'>,
  decider: Decider<never, S, E>,
  id: number,
  otherwise = true,
): Promise<boolean> => {
  try {
    return (await load(decider, id)).state.status === 'open'
  } catch (error) {
    if (isRefused(error, 'not_found')) return otherwise
    throw error
  }
}

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
      const exists = isPending ? await isOpen({ load }, channel, number) : projected.get(number) === true
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
  if (given !== null) return changeChannels(caller, linkItem(id), { into: given })
  // out of those that the caller sees: others may be those of other members
  const all = await channelsOf(caller, id)
  const seen = await Promise.all(all.map((one) => isOpen(caller, channel, one, false)))
  await changeChannels(caller, linkItem(id), { outOf: all.filter((_, n) => seen[n]) })
}
