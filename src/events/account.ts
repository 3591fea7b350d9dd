import { z } from 'zod'
import type { EventOf } from './event.ts'
import { Personal } from '../security/seal.ts'

const id = z.int()

export const accountEvents = {
  /** `password` is an scrypt hash; the tokens are those of the e-mail's and the username's claims. */
  AccountRegistered: z.object({
    id,
    email: Personal,
    username: Personal,
    password: Personal,
    emailToken: z.string(),
    usernameToken: z.string(),
  }),
  AccountEmailChanged: z.object({ id, email: Personal, emailToken: z.string() }),
  AccountPasswordChanged: z.object({ id, password: Personal }),
  /** The account's one key from now on: its public id, the keyed hash of its secret, and when it ends (ISO 8601; null: never). */
  ApiKeyIssued: z.object({ id, key: z.string(), hash: z.string(), expires: z.iso.datetime().nullable() }),
  AccountDisabled: z.object({ id }),
  AccountEnabled: z.object({ id }),
  /** For good: the account's data key is destroyed, so nothing sealed can be read again. */
  AccountErased: z.object({ id }),
}
export type AccountEvent = EventOf<typeof accountEvents>
