import { z } from 'zod'
import type { EventOf } from './event.ts'
import { Personal } from '../security/seal.ts'

const id = z.int()

export const accountEvents = {
  /** `password` is an scrypt hash. The tokens belong to the claims of the e-mail address and the username. */
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
  /** Replaces the account's API key. `key` is its public id, `hash` the keyed hash of its secret, `expires` null when it never does. */
  ApiKeyIssued: z.object({ id, key: z.string(), hash: z.string(), expires: z.iso.datetime().nullable() }),
  AccountDisabled: z.object({ id }),
  AccountEnabled: z.object({ id }),
  /** Irreversible: the account's data key is destroyed, so its sealed fields can never be read again. */
  AccountErased: z.object({ id }),
}
export type AccountEvent = EventOf<typeof accountEvents>
