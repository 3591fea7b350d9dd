import { z } from 'zod'
import type { EventOf } from './event.ts'
import { Secret } from '../security/seal.ts'

const id = z.int()

/** A rule for where visitors go. `name` is a country, device or language as the client entered it; the first match applies. */
export const Target = z.object({ name: z.string(), url: z.string() })
export const Parameter = z.object({ name: z.string(), value: z.string() })

const fields = {
  /** id of the branded domain; null for the service's own host */
  domain: id.nullable(),
  /** as entered; compared in lower case */
  alias: z.string(),
  /** as browsers write it; visitors are redirected to it */
  url: z.string(),
  /** `url` as the client sent it, where that differs; a change of `url` without it clears it */
  entered: z.string().nullable().optional(),
  /** `direct`, `frame`, `splash`, `splash-<id>` or `overlay-<id>` */
  type: z.string(),
  title: z.string(),
  description: z.string(),
  /** ISO 8601 in UTC; null: never */
  expiry: z.iso.datetime().nullable(),
  location: z.array(Target),
  device: z.array(Target),
  language: z.array(Target),
  metatitle: z.string(),
  metadescription: z.string(),
  metaimage: z.string(),
  parameters: z.array(Parameter),
  pixels: z.array(id),
  campaign: id.nullable(),
}

/** What a link's owner sets, except the password, which is sealed. */
export const LinkFields = z.object(fields)
export type LinkFields = z.infer<typeof LinkFields>

export const linkEvents = {
  /** `password` is an scrypt hash, null, or `unreadable`. `token` belongs to the claim of the alias. */
  LinkCreated: z.object({ id, account: z.int(), ...fields, password: Secret, token: z.string() }),
  /** Only fields whose value changes. A new `domain` or `alias` comes with the token of its claim. */
  LinkUpdated: z.object({
    id,
    changes: LinkFields.partial(),
    password: Secret.optional(),
    token: z.string().optional(),
  }),
  LinkDeleted: z.object({ id }),
}
export type LinkEvent = EventOf<typeof linkEvents>
