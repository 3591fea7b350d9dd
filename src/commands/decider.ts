import { type StreamKind, streamId } from '../events/streams.ts'
import type { Claim } from './claims/claim.ts'

/**
 * The rules of one kind of stream: which events a command causes (`decide`), and how events change the state that it decides on (`evolve`).
 * Both are pure: time, ids and hashes come with the command.
 */
export interface Decider<C, S, E> {
  readonly kind: StreamKind
  /** Goes up whenever `initialState`, `evolve` or the shape of the events changes: snapshots of other versions are not used. */
  readonly version: number
  /** Returns the id, within the kind, of the stream that a command changes. */
  readonly id: (command: C) => string | number
  readonly initialState: S
  /** Returns the events that a command causes: none if it would change nothing. Throws `Refused`. */
  readonly decide: (command: C, state: S) => readonly E[]
  readonly evolve: (state: S, event: E) => S
  /** Returns the unique names that have to be claimed before the events may be appended to a stream in this state. */
  readonly claims?: (command: C, events: readonly E[], state: S) => readonly Claim[]
}

/** Returns the name of the stream that a command changes. */
export const streamOf = <C>({ kind, id }: Pick<Decider<C, unknown, unknown>, 'kind' | 'id'>, command: C) =>
  streamId(kind, id(command))

export type Refusal = 'not_found' | 'invalid' | 'forbidden' | 'taken' | 'busy' | 'changed'

/** The command is not allowed, and would not be if it were sent again. `what` is the kind of unique name that is taken. */
export class Refused extends Error {
  override readonly name: string = 'Refused'
  readonly code: Refusal
  readonly what: string | undefined
  constructor(code: Refusal, message: string, what?: string) {
    super(message)
    this.code = code
    this.what = what
  }
}
/** The resource has another revision than those that the command may change. */
export class RevisionChanged extends Refused {
  override readonly name = 'RevisionChanged'
  readonly revision: number
  constructor(revision: number) {
    super('changed', `The resource has changed: its revision is ${revision}. Read it again before you change it.`)
    this.revision = revision
  }
}
export const refuse = (code: Refusal, message: string, what?: string): never => {
  throw new Refused(code, message, what)
}

/** Returns the state after the events. */
export const fold = <C, S, E>(
  { initialState, evolve }: Decider<C, S, E>,
  events: readonly E[],
  from: S = initialState,
) => events.reduce(evolve, from)
