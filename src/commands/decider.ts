import { type StreamKind, streamId } from '../events/streams.ts'
import type { Claim } from './claim.ts'

/** One kind of stream: what it may do (decide) and what it remembers to decide it (evolve). Pure: time, ids and hashes come in the command. */
export interface Decider<C, S, E> {
  readonly kind: StreamKind
  /** Id of the stream that decides the command, within its kind. */
  readonly id: (command: C) => string | number
  readonly initialState: S
  /** Throws `Refused`. A wish that already holds gives `[]`. */
  readonly decide: (command: C, state: S) => readonly E[]
  readonly evolve: (state: S, event: E) => S
  /** The unique names that have to be had before these events may be appended. */
  readonly claims?: (command: C, events: readonly E[]) => readonly Claim[]
}

/** The stream that decides a command. */
export const streamOf = <C>({ kind, id }: Pick<Decider<C, unknown, unknown>, 'kind' | 'id'>, command: C) =>
  streamId(kind, id(command))

export type Refusal = 'not_found' | 'invalid' | 'taken' | 'busy'

/** What was asked is not done, and would not be done if it were asked again. `what` names the unique name that is taken. */
export class Refused extends Error {
  readonly code: Refusal
  readonly what: string | undefined
  constructor(code: Refusal, message: string, what?: string) {
    super(message)
    this.code = code
    this.what = what
  }
}
export const refuse = (code: Refusal, message: string, what?: string): never => {
  throw new Refused(code, message, what)
}

/** The events' effect on a state, in order. */
export const fold = <C, S, E>(
  { initialState, evolve }: Decider<C, S, E>,
  events: readonly E[],
  from: S = initialState,
) => events.reduce(evolve, from)
