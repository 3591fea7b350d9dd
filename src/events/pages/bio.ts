import { z } from 'zod'
import type { EventOf } from '../event.ts'
import { openEnum } from '../openenum.ts'
import { ownedSchemas, sealedTexts } from '../owned.ts'

/** `id` names an entry within its page and stays when its title or place changes; clicks of the entry carry it. */
export const BioLink = z.object({ id: z.int().optional(), title: z.string(), url: z.string() })
type BioLink = z.infer<typeof BioLink>
export interface BioEntry extends Readonly<Omit<BioLink, 'id'>> {
  readonly id: number
}

/**
 * How a page looks: light or dark as the visitor prefers, always dark, always light and warm, or in the owner's color.
 */
export const BioTheme = z.enum(['paper', 'ink', 'sand', 'color'])
export type BioTheme = z.infer<typeof BioTheme>

/** A public page with links, served under an alias of the service's own host. */
const fields = {
  name: z.string(),
  /** as entered; compared in lower case */
  alias: z.string(),
  title: z.string(),
  description: z.string(),
  /** URL of an image */
  avatar: z.string(),
  links: z.array(BioLink),
  theme: openEnum(BioTheme).optional(),
  /** `#rrggbb`, for the theme `color` */
  color: z.string().optional(),
  /** the highest id that an entry of the page has had, so that a new entry never gets the clicks of a deleted one */
  lastEntry: z.int().optional(),
}
export type BioFields = z.infer<z.ZodObject<typeof fields>>

const { created, updated, deleted, restored } = ownedSchemas(fields)
export const bioEvents = { BioCreated: created, BioUpdated: updated, BioDeleted: deleted, BioRestored: restored }

/** The look of pages from older releases, which stored none. */
export const bioLook = { theme: 'paper', color: '#1d4ed8' } as const

/**
 * Returns the entries of a page with their ids. A release that did not count clicks stored no ids: its entries have
 * their places as ids.
 */
export const entriesOf = (links: readonly BioLink[]): readonly BioEntry[] => {
  const numbered = links.every(({ id }) => id !== undefined)
  return links.map(({ id, title, url }, i) => ({ id: numbered && id !== undefined ? id : i + 1, title, url }))
}
/** Returns the highest id that an entry of the page has had. */
export const lastEntryOf = ({ links, lastEntry = 0 }: Pick<BioFields, 'links' | 'lastEntry'>): number =>
  Math.max(lastEntry, ...entriesOf(links).map(({ id }) => id))

/** The alias stays open: it is part of a public address, which stays reserved. */
export const bioTexts = sealedTexts('Bio', { name: '', title: '', description: '', avatar: '', links: [] })
export type BioEvent = EventOf<typeof bioEvents>
