import { z } from 'zod'
import type { EventOf } from '../event.ts'

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
  /**
   * Pending until it is verified. `token` belongs to the claim of the host, which only older releases made here: the
   * domain is verified then.
   */
  DomainCreated: z.object({ id, account: z.int(), token: z.string().optional(), ...fields }),
  /** `to`: it has its values of that revision again. */
  DomainUpdated: z.object({
    id,
    to: id.optional(),
    changes: DomainFields.pick({ redirectroot: true, redirect404: true }).partial(),
  }),
  /** This account can restore the domain at any time. Other accounts can verify the host after `free`. */
  DomainDeleted: z.object({ id, free: z.iso.datetime() }),
  /**
   * The account added the host again. With `token`, of the claim of the host, the domain is verified as before;
   * without, it is pending. `until`: when the reservation ends that this uses. Until the domain is verified again, a
   * deletion does not prolong it.
   */
  DomainRestored: z.object({ id, token: z.string().optional(), until: z.iso.datetime().optional(), ...fields }),
  /**
   * Several checks in a row failed: the domain stops. From `free` on, other accounts can verify the host; missing in
   * older logs: never.
   */
  DomainUnverified: z.object({ id, free: z.iso.datetime().optional() }),
  /**
   * The domain serves from now on. `token` belongs to the claim of the host; without it, the domain has the claim
   * already. `by` is the check that it passed (`txt`, `dns`, or `off`: none); older logs do not name it.
   */
  DomainVerified: z.object({ id, token: z.string().optional(), by: z.string().optional() }),
  /** The operator, or an erasure, ended all rights of the account to the host: others can verify it from `free` on. */
  DomainReleased: z.object({ id, free: z.iso.datetime() }),
}
export type BrandedDomainEvent = EventOf<typeof domainEvents>
