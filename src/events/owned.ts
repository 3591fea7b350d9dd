import { z } from 'zod'
import type { Personal } from '../security/seal.ts'

const id = z.int()

/**
 * What every event of a restored resource says besides its changes. `to`: the revision whose values it has again;
 * missing: its last ones.
 */
export const restoring = {
  to: id.optional(),
  /** it was deleted before */
  deleted: z.literal(true).optional(),
  token: z.string().optional(),
}

/**
 * Returns the payload schemas of a resource that an account creates, updates, deletes and restores. If it has a unique
 * name, `token` belongs to the claim of the name. Personal fields are next to `changes`, not inside, because only
 * top-level fields are sealed.
 */
export const ownedSchemas = <F extends z.ZodRawShape, P extends Record<string, typeof Personal> = Record<never, never>>(
  fields: F,
  personal: P = {} as P,
) => ({
  created: z.object({ id, account: id, token: z.string().optional(), ...fields, ...personal }),
  /** only fields whose value changes */
  updated: z.object({
    id,
    token: z.string().optional(),
    changes: z.object(fields).partial(),
    ...z.object(personal).partial().shape,
  }),
  deleted: z.object({ id }),
  /** only fields whose value changes; none if it only comes back as it was deleted */
  restored: z.object({ id, ...restoring, changes: z.object(fields).partial(), ...z.object(personal).partial().shape }),
})

/**
 * Fields of a payload that are sealed together, as one JSON text. They may have any type, unlike a `Personal` field,
 * and events of releases that stored them in clear stay readable.
 */
export interface SealedGroup {
  /** the object that has the fields; by default the payload itself */
  readonly inside?: 'changes'
  /** the event has only fields that change: without the key, it has none of them */
  readonly partial?: true
  /** the fields, and what they read as without the key */
  readonly blank: Readonly<Record<string, unknown>>
}
type Sealed<K extends string> = Readonly<Record<K, SealedGroup>>

/** Returns the sealed groups of the events of a resource, given the fields and what they read as without the key. */
export const sealedTexts = <R extends string>(resource: R, blank: SealedGroup['blank']) => {
  const changes: SealedGroup = { inside: 'changes', partial: true, blank }
  return {
    [`${resource}Created`]: { blank },
    [`${resource}Updated`]: changes,
    [`${resource}Restored`]: changes,
  } as Sealed<`${R}${'Created' | 'Updated' | 'Restored'}`>
}

/** Some of the fields, as zod returns them. */
export type Changes<F> = { readonly [K in keyof F]?: F[K] | undefined }

/** The events of such a resource: C, U, D and R are their types, F the fields, of which P are the personal ones. */
export interface OwnedCreated<C extends string, F> {
  readonly type: C
  readonly data: { id: number; account: number; token?: string | undefined } & F
}
export interface OwnedUpdated<U extends string, F, P = object> {
  readonly type: U
  readonly data: { id: number; token?: string | undefined; changes: Changes<F> } & Changes<P>
}
export interface OwnedDeleted<D extends string> {
  readonly type: D
  readonly data: { id: number }
}
export interface OwnedRestored<R extends string, F, P = object> {
  readonly type: R
  readonly data: {
    id: number
    to?: number | undefined
    deleted?: true | undefined
    token?: string | undefined
    changes: Changes<F>
  } & Changes<P>
}
export type OwnedEvent<C extends string, U extends string, D extends string, R extends string, F, P = object> =
  OwnedCreated<C, F & P> | OwnedUpdated<U, F, P> | OwnedDeleted<D> | OwnedRestored<R, F, P>
