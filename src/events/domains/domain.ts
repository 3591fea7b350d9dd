import { z } from 'zod'
import type { EventOf } from '../event.ts'

const id = z.int()

/** Which addresses open an app, in the words of Apple's file; the first component that matches decides. */
const Component = z.object({
  '/': z.string().optional(),
  '?': z.union([z.string(), z.record(z.string(), z.string())]).optional(),
  '#': z.string().optional(),
  exclude: z.boolean().optional(),
  caseSensitive: z.boolean().optional(),
  percentEncoded: z.boolean().optional(),
  comment: z.string().optional(),
})
export const AppleApps = z.object({
  details: z.array(z.object({ appIDs: z.array(z.string()), components: z.array(Component) })),
})
export type AppleApps = z.infer<typeof AppleApps>
export const AndroidApps = z.array(
  z.object({
    package_name: z.string(),
    /** upper case with colons */
    sha256_cert_fingerprints: z.array(z.string()),
    components: z.array(Component).optional(),
  }),
)
export type AndroidApps = z.infer<typeof AndroidApps>

const fields = {
  /** scheme and host, for example `https://go.example.com` */
  domain: z.string(),
  /** where a visit to the root is redirected; empty: nowhere */
  redirectroot: z.string(),
  /** where a visit to an unknown alias is redirected; empty: nowhere */
  redirect404: z.string(),
}
/** Apps that open the addresses of the domain instead of a browser. Events of older releases do not have them. */
const apps = { apple: AppleApps.optional(), android: AndroidApps.optional() }
const StoredFields = z.object({ ...fields, ...apps })
/** The fields of a domain as its events have them. */
export type StoredDomainFields = z.infer<typeof StoredFields>
export type DomainFields = Omit<StoredDomainFields, 'apple' | 'android'> & {
  readonly apple: AppleApps
  readonly android: AndroidApps
}
export const noApps: Pick<DomainFields, 'apple' | 'android'> = { apple: { details: [] }, android: [] }
/** Returns all fields of a domain. */
export const completedDomain = ({ apple, android, ...fields }: StoredDomainFields): DomainFields => ({
  ...fields,
  apple: apple ?? noApps.apple,
  android: android ?? noApps.android,
})

export const domainEvents = {
  /**
   * Pending until it is verified. `token` belongs to the claim of the host, which only older releases made here: the
   * domain is verified then.
   */
  DomainCreated: z.object({ id, account: z.int(), token: z.string().optional(), ...fields, ...apps }),
  /** The aliases of its links are whole paths, compared as they are; for ever, and from before its first link on. */
  DomainAliasesMadeExact: z.object({ id }),
  /** `to`: it has its values of that revision again. */
  DomainUpdated: z.object({
    id,
    to: id.optional(),
    changes: StoredFields.omit({ domain: true }).partial(),
  }),
  /** This account can restore the domain at any time. Other accounts can verify the host after `free`. */
  DomainDeleted: z.object({ id, free: z.iso.datetime() }),
  /**
   * The account added the host again. With `token`, of the claim of the host, the domain is verified as before;
   * without, it is pending. `until`: when the reservation ends that this uses. Until the domain is verified again, a
   * deletion does not prolong it.
   */
  DomainRestored: z.object({
    id,
    token: z.string().optional(),
    until: z.iso.datetime().optional(),
    ...fields,
    ...apps,
  }),
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
