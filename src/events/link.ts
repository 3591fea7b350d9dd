import { z } from 'zod'
import type { EventOf } from './event.ts'
import { Personal } from '../security/seal.ts'

const id = z.int()

/** `name` is a country, device or language as the client wrote it; the first that matches a visitor decides. */
export const Target = z.object({ name: z.string(), url: z.string() })
export const Parameter = z.object({ name: z.string(), value: z.string() })

const fields = {
  /** id of the branded domain; null = the service's own */
  domain: id.nullable(),
  /** as typed; compared in lower case */
  alias: z.string(),
  url: z.string(),
  /** `direct`, `frame`, `splash`, `splash-<id>` or `overlay-<id>` */
  type: z.string(),
  title: z.string(),
  description: z.string(),
  /** ISO 8601, UTC; null = never */
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

/** All that a link's owner decides; `password` is apart because it stands sealed. */
export const LinkFields = z.object(fields)
export type LinkFields = z.infer<typeof LinkFields>

export const linkEvents = {
  /** `password` is an scrypt hash, null = none; `token` is that of the alias's claim. */
  LinkCreated: z.object({ id, account: z.int(), ...fields, password: Personal, token: z.string() }),
  /** Only what was sent and differs; a new address (`domain`, `alias`) brings the token of its claim. */
  LinkUpdated: z.object({
    id,
    changes: LinkFields.partial(),
    password: Personal.optional(),
    token: z.string().optional(),
  }),
  LinkDeleted: z.object({ id }),
}
export type LinkEvent = EventOf<typeof linkEvents>
