import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { Role } from './accounts/role.ts'
import { openEnum } from './openenum.ts'

/** Turns a registry of payload schemas into the union of events it describes. */
export type EventOf<R extends Record<string, z.ZodType>> = {
  [T in keyof R & string]: { readonly type: T; readonly data: z.output<R[T]> }
}[keyof R & string]

/**
 * Who caused an event: the holder of an API key, the owner in the dashboard (`session`), an operator at the command
 * line, the service itself, or a visitor. `name` is the operator's. `member` and `role`, that of then, are those of
 * a member who is not the account's own sign-in, or whose key it is; nothing else is known of the person here.
 * `approved`: who has approved the change, which was proposed under this number.
 */
export const Actor = z.object({
  kind: openEnum(z.enum(['key', 'session', 'operator', 'service', 'visitor'])),
  key: z.string().optional(),
  name: z.string().optional(),
  member: z.int().optional(),
  role: openEnum(Role).optional(),
  approved: z.object({ proposal: z.int(), member: z.int(), role: openEnum(Role) }).optional(),
})
export type Actor = z.infer<typeof Actor>

/**
 * The metadata of every event. `v` is the version of the event's type, which the codec sets (see `upcast.ts`). `at` is
 * the time of the decision (ISO 8601, UTC). `account` owns the data the event is about; null when there is no owner, as
 * for `LogOpened`. `request` is the id of the HTTP request, `command` the id by which a repeated command is recognised.
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

/**
 * Returns metadata for an event that the service appends on its own, not for a request. `account` owns the data it is
 * about.
 */
export const systemMetadata = (account: number | null = null): Metadata => ({
  v: 1,
  at: new Date().toISOString(),
  account,
  actor: { kind: 'service' },
  request: '',
  command: randomUUID(),
})

/** An event to be appended. A repeated append is recognised by the event's id (a UUID). */
export type New<E> = E & { readonly id: string; readonly metadata: Metadata }

/** Names an event, without its data. */
export interface EventName {
  readonly id: string
  readonly type: string
  readonly stream: string
  readonly revision: bigint
  readonly position: bigint
}
export const nameOfEvent = ({ id, type, stream, revision, position }: EventName): EventName => ({
  id,
  type,
  stream,
  revision,
  position,
})

/** An event read from the log. `revision` counts from 0n in its stream, `position` increases across the whole log. */
export type Recorded<E> = New<E> & {
  readonly stream: string
  readonly revision: bigint
  readonly position: bigint
  /** when the log stored it, ISO 8601 in UTC; never decreases on PostgreSQL */
  readonly at: string
}
