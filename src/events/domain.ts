import { z } from 'zod'
import type { EventOf } from './event.ts'

const id = z.int()

const fields = {
  /** scheme and host, as `https://go.example.com` */
  domain: z.string(),
  /** where a visit to the root is sent, `` = nowhere */
  redirectroot: z.string(),
  /** where a visit to an unknown alias is sent, `` = nowhere */
  redirect404: z.string(),
}
export const DomainFields = z.object(fields)
export type DomainFields = z.infer<typeof DomainFields>

export const domainEvents = {
  /** `token` is that of the host's claim. */
  DomainCreated: z.object({ id, account: z.int(), token: z.string(), ...fields }),
  DomainUpdated: z.object({ id, changes: DomainFields.pick({ redirectroot: true, redirect404: true }).partial() }),
  /** For this account the host can come back at any time, for others it is free from `free` on (ISO 8601). */
  DomainDeleted: z.object({ id, free: z.iso.datetime() }),
  /** The host came back to its account: its links live again. */
  DomainRestored: z.object({ id, token: z.string(), ...fields }),
  /** DNS has led elsewhere for several checks: the domain's links stop. */
  DomainUnverified: z.object({ id }),
  /** DNS leads to us again. */
  DomainVerified: z.object({ id }),
}
export type BrandedDomainEvent = EventOf<typeof domainEvents>
