import { z } from 'zod'
import type { EventOf } from './event.ts'
import { ownedSchemas, type Together } from './owned.ts'

export const BioLink = z.object({ title: z.string(), url: z.string() })

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
}
export type BioFields = z.infer<z.ZodObject<typeof fields>>

const { created, updated, deleted } = ownedSchemas(fields)
export const bioEvents = { BioCreated: created, BioUpdated: updated, BioDeleted: deleted }

/** The alias stays open: it is part of a public address, which stays reserved. */
const blank = { name: '', title: '', description: '', avatar: '', links: [] }
const personal = Object.keys(blank)
export const bioPersonal = {
  BioCreated: { fields: personal, blank },
  BioUpdated: { inside: 'changes', fields: personal, blank: {} },
} as const satisfies Readonly<Record<string, Together>>
export type BioEvent = EventOf<typeof bioEvents>
