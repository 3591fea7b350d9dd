import { randomUUID } from 'node:crypto'
import { z } from 'zod'

/** Turns a registry of payload schemas into the union of events it describes. */
export type EventOf<R extends Record<string, z.ZodType>> = {
  [T in keyof R & string]: { readonly type: T; readonly data: z.output<R[T]> }
}[keyof R & string]

/** Who asked for it: a holder of an API key, an operator at the command line, or the service itself. */
export const Actor = z.object({ kind: z.enum(['key', 'operator', 'service', 'visitor']), key: z.string().optional() })
export type Actor = z.infer<typeof Actor>

/**
 * Stands on every event. `at` is when it was decided (ISO 8601, UTC), `account` whose event it is (null: nobody's, as `LogOpened`),
 * `command` the id under which the same wish is recognised when it is sent again.
 */
export const Metadata = z.object({
  v: z.int(),
  at: z.iso.datetime(),
  account: z.int().nullable(),
  actor: Actor,
  request: z.string(),
  command: z.string(),
})
export type Metadata = Readonly<z.infer<typeof Metadata>>

/** Metadata of an event that the service appends of its own accord, not for a request; `account` is the owner of the data it is about. */
export const systemMetadata = (account: number | null = null): Metadata => ({
  v: 1,
  at: new Date().toISOString(),
  account,
  actor: { kind: 'service' },
  request: '',
  command: randomUUID(),
})

/** An event that is about to be appended. Its id makes a repeated append recognisable. */
export type New<E> = E & { readonly id: string; readonly metadata: Metadata }

/** An event as the log gives it back. `revision` counts from 0n in its stream, `position` grows across the whole log. */
export type Recorded<E> = New<E> & {
  readonly stream: string
  readonly revision: bigint
  readonly position: bigint
  /** when the log took it, ISO 8601 UTC; never runs backwards on PostgreSQL */
  readonly at: string
}
