import { type StreamKind, streamId } from '../events/streams.ts'
import {
  englishTexts,
  problem,
  type Problem,
  type ProblemCode,
  type Rest,
  sentenceOf,
  type What,
} from '../lib/problems/problem.ts'
import type { Claim } from './claims/claim.ts'

/**
 * The rules of one kind of stream: which events a command causes (`decide`), and how events change the state that it
 * decides on (`evolve`). Both are pure: time, ids and hashes come with the command.
 */
export interface Decider<C, S, E> {
  readonly kind: StreamKind
  /**
   * Goes up whenever `initialState`, `evolve` or the shape of the events changes: snapshots of other versions are not
   * used.
   */
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

/** The commands of a type. */
export type CommandOf<C, T> = C extends { readonly type: infer X } ? (T extends X ? C : never) : never

/** Returns `decide` from one function for each type of command. */
export const decideBy =
  <C extends { readonly type: string }, S, E>(decisions: {
    readonly [T in C['type']]: (command: CommandOf<C, T>, state: S) => readonly E[]
  }): Decider<C, S, E>['decide'] =>
  (command, state) => {
    const decide = decisions[command.type as C['type']] as (command: C, state: S) => readonly E[]
    return decide(command, state)
  }

/** Returns the name of the stream that a command changes. */
export const streamOf = <C>({ kind, id }: Pick<Decider<C, unknown, unknown>, 'kind' | 'id'>, command: C) =>
  streamId(kind, id(command))

/** The command is not allowed, and would not be if it were sent again. */
export class Refused extends Error {
  override readonly name: string = 'Refused'
  readonly problem: Problem
  constructor(reason: Problem) {
    super(sentenceOf(reason))
    this.problem = reason
  }
  get code() {
    return this.problem.code
  }
  /** tells problems with the same code apart, such as the kind of unique name that is taken */
  get what() {
    return this.problem.params['what']
  }
}
/** The resource has another revision than those that the command may change. */
export class RevisionChanged extends Refused {
  override readonly name = 'RevisionChanged'
  readonly revision: number
  constructor(revision: number) {
    super(problem('changed', { revision }))
    this.revision = revision
  }
}
/** Throws `Refused`. */
export const refuse = <C extends ProblemCode>(code: C, ...rest: Rest<C>): never => {
  throw new Refused(problem(code, ...rest))
}
type Named = Exclude<StreamKind & What<'not_found'>, 'block'>
const isNamed = (kind: StreamKind): kind is Named => kind !== 'block' && Object.hasOwn(englishTexts.not_found, kind)
/** Throws `Refused` because there is no such resource, or none of the account: existence is not disclosed. */
export const refuseUnknown = (kind: StreamKind): never =>
  refuse('not_found', { what: isNamed(kind) ? kind : 'resource' })
/** Whether an error is a refusal for a reason. */
export const isRefused = (error: unknown, code: ProblemCode): error is Refused =>
  error instanceof Refused && error.code === code

/** Returns the state after the events. */
export const fold = <C, S, E>(
  { initialState, evolve }: Decider<C, S, E>,
  events: readonly E[],
  from: S = initialState,
) => events.reduce(evolve, from)
