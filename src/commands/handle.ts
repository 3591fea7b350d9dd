import type { DomainEvent } from '../events/index.ts'
import type { ResourceKind } from '../events/kinds.ts'
import type { EventStore } from '../events/store.ts'
import { ChangedByNewer } from '../events/unknown.ts'
import { createLines } from '../lib/async/line.ts'
import type { SnapshotStore } from '../security/snapshots.ts'
import { append } from './append.ts'
import { type Claim, claimStream } from './claims/claim.ts'
import { type Claimed, releasing } from './claims/releasing.ts'
import { claimName, claimNewName, type ClaimWrites, newestClaim } from './claims/writes.ts'
import { type Decider, fold, refuse, Refused, RevisionChanged, streamOf } from './decider.ts'
import { formerLoader, type LoadFormer } from './former.ts'
import { countRevision, type Load, type Loaded, loader } from './load.ts'
import type { Context, Handled } from './context.ts'
import { findOutcome, type Outcome } from './resume.ts'
import { type ReadSteps, stepReader } from './steps.ts'

/** The revisions of a stream that a command may change; undefined: any. */
export type Revisions = readonly number[] | undefined
export interface HandleOptions<S = unknown> {
  readonly revisions?: Revisions
  /** Throws `Refused` where who asks may not change a resource in this state any more. */
  readonly requires?: ((state: S) => void) | undefined
  /** whether the command may have been executed before: what it has appended then is its outcome */
  readonly resumed?: boolean
}

/** Returns what an earlier execution of a command has done; undefined: nothing. It reads the stream of the command. */
type FindOutcome = <C, S, E extends DomainEvent>(
  decider: Decider<C, S, E>,
  command: C,
  id: string,
) => Promise<Outcome<S, E> | undefined>

/** Draws the next id of a kind of resource, greater than `past`. */
export type NextId = (past?: number) => Promise<number>
/** `NextId` of each kind of resource. */
export type NextIds = Readonly<Record<ResourceKind, NextId>>

export interface Handler {
  readonly load: Load
  readonly loadFormer: LoadFormer
  readonly steps: ReadSteps
  readonly outcome: FindOutcome
  /** Returns the stream that last claimed a name, whether or not the claim is still valid. */
  readonly claimant: (claim: Pick<Claim, 'kind' | 'name'>) => Promise<string | undefined>
  /**
   * Loads, decides and appends; after a conflict it decides again on the newer state, if it may change that revision.
   * Throws `Refused`, `StoreUnavailable`, `ChangedByNewer`.
   */
  readonly handle: <C, S, E extends DomainEvent>(
    decider: Decider<C, S, E>,
    command: C,
    context: Context,
    options?: HandleOptions<S>,
  ) => Promise<Handled<S, E>>
  /**
   * Creates a resource under a new id by appending to a stream that must not exist yet: only that append allocates the
   * id. If the stream exists, it is either an earlier attempt of this command, which is then returned, or the id is in
   * use (after the database was restored from a backup): then it tries ids further and further ahead. Throws `Refused`,
   * `StoreUnavailable`.
   */
  readonly create: <C, S, E extends DomainEvent>(
    decider: Decider<C, S, E>,
    nextId: NextId,
    make: (id: number) => C,
    context: (id: number) => Context,
  ) => Promise<Handled<S, E> & { readonly id: number }>
}

const attempts = 50
/** Random, so that writers in conflict do not meet again; up to 40 ms. */
const jitter = (attempt: number) => new Promise((done) => setTimeout(done, Math.random() * Math.min(attempt, 10) * 4))

type Known<S> = Pick<Loaded<S>, 'state' | 'revision' | 'position'>

/** How a command may claim names, what it has claimed, and which revisions it may change. */
interface Limits<S> {
  readonly claimWrites: ClaimWrites
  readonly claimed: Claimed
  readonly revisions?: Revisions
  readonly requires?: ((state: S) => void) | undefined
}

/**
 * Decides and appends once; `ok: false` names the stream that has changed meanwhile. An engine without transactions may
 * then have stored claims already: they are added to `claimed`.
 */
const attempt = async <C, S, E extends DomainEvent>(
  store: EventStore,
  { claimWrites, claimed, revisions, requires }: Limits<S>,
  decider: Decider<C, S, E>,
  command: C,
  context: Context,
  { state, revision, position }: Known<S>,
) => {
  const stream = streamOf(decider, command)
  const basis = { stream, revision }
  const conflict = { ok: false, stream, actual: revision } as const
  requires?.(state)
  const events = decider.decide(command, state)
  const before = countRevision(revision)
  // after the decision: a caller who may not change the resource must not see its revision
  if (revisions && !revisions.includes(before)) throw new RevisionChanged(before)
  if (events.length === 0) return { ok: true, state, events, position, revision: before } as const
  const claims = decider.claims?.(command, events, state) ?? []
  const claimant = { stream, account: context.account ?? 0, command: context.command, at: context.at }
  const found = await Promise.all(claims.map((claim) => claimWrites(claim, claimant)))
  if (found.includes('held')) return conflict
  const claiming = found.flatMap((writes) => (writes === 'held' ? [] : writes))
  // an abandoned claim of this very stream: the fence goes first, then the command is decided again
  const fences = claiming.filter((write) => write.stream === stream)
  if (fences.length > 0) {
    const fenced = await append(store, fences, context, basis)
    return fenced.ok ? conflict : fenced
  }
  const appended = await append(store, [...claiming, { stream, expected: revision, events }], context, basis)
  if (!appended.ok) {
    for (const claim of claims) claimed.set(claimStream(claim), claim)
    return appended
  }
  const after = { state: fold(decider, events, state), position: appended.position, revision: before + events.length }
  return { ok: true, events, ...after } as const
}

/** Loads a resource if an earlier attempt of this command has created it. */
const loadCreated = async <C, S, E extends DomainEvent>(
  load: Load,
  decider: Decider<C, S, E>,
  id: string | number,
  { command }: Context,
): Promise<Loaded<S> | undefined> => {
  try {
    const loaded = await load(decider, id)
    return loaded.createdBy === command ? loaded : undefined
  } catch (error) {
    if (error instanceof ChangedByNewer && (error.known as Loaded<S>).createdBy !== command) return undefined
    throw error
  }
}

/** What a command passes on to the next one on its stream, which then need not read it: the state it has appended. */
interface Passed {
  readonly known?: Known<unknown>
}
const passOn = <S, E>(handled: Handled<S, E>) => {
  const { state, events, position, revision } = handled
  return { handled, ...(events.length > 0 && { known: { state, position, revision: BigInt(revision) } }) }
}

/**
 * Returns undefined for a refusal on a state that was passed on: another process may have changed the stream since, so
 * only a state that was read can refuse a command, or need no event.
 */
const unlessRefused = async <T>(done: Promise<T>): Promise<T | undefined> => {
  try {
    return await done
  } catch (error) {
    if (error instanceof Refused) return undefined
    throw error
  }
}

const creating =
  (store: EventStore, load: Load): Handler['create'] =>
  (decider, nextId, make, context) =>
    releasing(store, load)(context, async (claimed) => {
      const empty = { state: decider.initialState, revision: 'no_stream', position: 0n } as const
      let id = await nextId()
      for (let n = 1, jump = 1; n <= attempts; n++) {
        const command = make(id)
        const names = { claimWrites: n === 1 ? claimNewName : claimName(store, load), claimed }
        const done = await attempt(store, names, decider, command, context(id), empty)
        if (done.ok) return { id, ...done }
        if (done.stream === streamOf(decider, command)) {
          const found = await loadCreated(load, decider, decider.id(command), context(id))
          if (found) return { id, ...found, revision: countRevision(found.revision), events: [] }
          id = await nextId(id + jump)
          jump *= 2
        } else await jitter(n)
      }
      return refuse('busy', { what: 'ids' })
    })

export const handler = (store: EventStore, snapshots?: SnapshotStore): Handler => {
  const load = loader(store, snapshots)
  const withRelease = releasing(store, load)
  const outcome: FindOutcome = (decider, command, id) => findOutcome(store, decider, command, id)
  // commands on one stream would decide again after each other's appends: many at once, for longer than clients wait
  const inLine = createLines<Passed>()

  return {
    load,

    loadFormer: formerLoader(store, snapshots),

    steps: stepReader(store, snapshots),

    outcome,

    claimant: async (name) => (await newestClaim(store, name))?.data.holder,

    handle: async <C, S, E extends DomainEvent>(
      decider: Decider<C, S, E>,
      command: C,
      context: Context,
      { revisions, requires, resumed = false }: HandleOptions<S> = {},
    ) => {
      const tryAgain = async (claimed: Claimed, passed: Known<S> | undefined) => {
        const attemptOn = (known: Known<S>) =>
          attempt(
            store,
            { claimWrites: claimName(store, load), claimed, revisions, requires },
            decider,
            command,
            context,
            known,
          )
        for (let n = 1; n <= attempts; n++) {
          const earlier = resumed ? await outcome(decider, command, context.command) : undefined
          if (earlier) return { handled: earlier }
          const next = n === 1 && passed ? await unlessRefused(attemptOn(passed)) : undefined
          if (next?.ok && next.events.length > 0) return passOn(next)
          const done = await attemptOn(await load(decider, decider.id(command)))
          if (done.ok) return passOn(done)
          await jitter(n)
        }
        return refuse('busy', { what: 'changes' })
      }
      const line = await inLine(streamOf(decider, command), (before) =>
        withRelease(
          () => context,
          (claimed) => tryAgain(claimed, before?.known as Known<S> | undefined),
        ),
      )
      return line.handled
    },

    create: creating(store, load),
  }
}
