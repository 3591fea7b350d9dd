import type { LinkFields, Variant } from '../../events/links/link.ts'
import { refuse } from '../decider.ts'

/** A variant as its owner sends it: a new one has no id. */
export type GivenVariant = Omit<Variant, 'id'> & { readonly id?: number | undefined }

/** Refuses ids that name no variant of the link, or one variant twice: its clicks would be counted for two. */
const requireIds = (given: readonly GivenVariant[], last: number) =>
  given.forEach(({ id }, i) => {
    if (id === undefined) return
    const repeated = given.findIndex((other) => other.id === id) < i
    if (!repeated && id >= 1 && id <= last) return
    refuse('repeated', { what: 'variant', field: `variants.${i}.id` })
  })

/**
 * Returns the variants with their ids. One without an id is the one that has its URL, so that a client that does not
 * know ids keeps the clicks apart when it sends the whole list; any other is new.
 */
export const numbered = (
  given: readonly GivenVariant[],
  before: Pick<LinkFields, 'variants' | 'last_variant'>,
): Pick<LinkFields, 'variants' | 'last_variant'> => {
  requireIds(given, before.last_variant)
  const used = new Set(given.flatMap(({ id }) => id ?? []))
  let last_variant = before.last_variant
  const variants = given.map(({ id, url, weight }) => {
    const known = id ?? before.variants.find((one) => one.url === url && !used.has(one.id))?.id ?? ++last_variant
    used.add(known)
    return { id: known, url, weight }
  })
  return { variants, last_variant }
}
