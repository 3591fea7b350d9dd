import { z } from 'zod'
import type { EventOf } from './event.ts'

const id = z.int()

const fields = {
  /** scheme and host, for example `https://go.example.com` */
  domain: z.string(),
  /** where a visit to the root is redirected; empty: nowhere */
  redirectroot: z.string(),
  /** where a visit to an unknown alias is redirected; empty: nowhere */
  redirect404: z.string(),
}
export const DomainFields = z.object(fields)
export type DomainFields = z.infer<typeof DomainFields>

export const domainEvents = {
  /** `token` belongs to the claim of the host. */
  DomainCreated: z.object({ id, account: z.int(), token: z.string(), ...fields }),
  DomainUpdated: z.object({ id, changes: DomainFields.pick({ redirectroot: true, redirect404: true }).partial() }),
  /** This account can restore the domain at any time. Other accounts can register the host after `free`. */
  DomainDeleted: z.object({ id, free: z.iso.datetime() }),
  /** The account registered the host again: its links work again. */
  DomainRestored: z.object({ id, token: z.string(), ...fields }),
  /** Several DNS checks in a row did not lead to this service: the domain's links stop working. */
  DomainUnverified: z.object({ id }),
  /** DNS leads to this service again. */
  DomainVerified: z.object({ id }),
}
export type BrandedDomainEvent = EventOf<typeof domainEvents>
