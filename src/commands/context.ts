import type { Actor } from '../events/event.ts'

/** Who sends a command, and when. `command` is its id: a retry with the same id appends nothing twice. */
export interface Context {
  readonly account: number | null
  readonly actor: Actor
  readonly request: string
  readonly command: string
  /** ISO 8601, UTC */
  readonly at: string
}
/** `position` is that of the last event appended or, if nothing was appended, of the stream's last event. */
export interface Handled<S, E> {
  readonly state: S
  readonly events: readonly E[]
  readonly position: bigint
  /** of the stream's last event; -1 for an empty stream */
  readonly revision: number
  /** the state before, where an earlier execution of the command has made the change */
  readonly before?: S
}
