import { domainsOf } from '../../commands/links/places.ts'
import type { Link } from '../../commands/links/state.ts'
import type { Load } from '../../commands/load.ts'
import type { LinkedKind } from '../../events/kinds.ts'
import { histories } from '../history/kinds.ts'

/** Returns what visitors meet at a link besides its own fields: `kind id`. */
const usesOf = (used: Link): readonly string[] => {
  const { status, fields } = used
  const { type, pixels } = fields
  const [, page, id] = /^(splash|overlay)-(\d+)$/.exec(type) ?? []
  return status === 'open'
    ? [
        ...domainsOf(used)
          .filter((id) => id > 0)
          .map((id) => `domain ${id}`),
        ...(page ? [`${page} ${id}`] : []),
        ...pixels.map((id) => `pixel ${id}`),
      ]
    : []
}

/**
 * Returns whether something that a change makes a link use has changed since a position of the log: visitors would meet
 * something else than what was proposed. What the link uses already changes by approval only.
 */
export const isOtherSince = async (
  load: Load,
  { before, after }: { readonly before: Link; readonly after: Link },
  position: bigint,
): Promise<boolean> => {
  const had = new Set(usesOf(before))
  const found = await Promise.all(
    usesOf(after).map(async (use) => {
      const [kind = '', id] = use.split(' ')
      return !had.has(use) && (await load(histories[kind as LinkedKind].decider, Number(id))).position > position
    }),
  )
  return found.includes(true)
}
