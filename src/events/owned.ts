import { z } from 'zod'

const id = z.int()

/** Payload schemas of a resource that an account makes, changes and deletes. With a unique name, `token` is that of its claim. */
export const ownedSchemas = <F extends z.ZodRawShape>(fields: F) => ({
  created: z.object({ id, account: id, token: z.string().optional(), ...fields }),
  /** only what was sent and differs */
  updated: z.object({ id, token: z.string().optional(), changes: z.object(fields).partial() }),
  deleted: z.object({ id }),
})

/** The events of such a resource, `Noun` in front; F are its fields. */
export type OwnedEvent<N extends string, F> =
  | { readonly type: `${N}Created`; readonly data: { id: number; account: number; token?: string | undefined } & F }
  | { readonly type: `${N}Updated`; readonly data: { id: number; token?: string | undefined; changes: Partial<F> } }
  | { readonly type: `${N}Deleted`; readonly data: { id: number } }
