import { v5 as uuid } from 'uuid'
import type { Actor, New } from '../events/event.ts'
import type { DomainEvent } from '../events/index.ts'
import type { EventStore } from '../events/store.ts'
import type { StreamKind } from '../events/streams.ts'
import type { Claim } from './claim.ts'
import { claimName, claimNewName, newestClaim, type PendingWrite } from './claimwrites.ts'
import { type Decider, fold, refuse, streamOf } from './decider.ts'
import { type Load, type Loaded, loader } from './load.ts'

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
}
/** Draws the next id of a kind of resource, greater than `past`. */
export type NextId = (past?: number) => Promise<number>
/** `NextId` of each kind of resource whose ids are numbers. */
export type NextIds = Readonly<
  Record<Exclude<StreamKind, 'answer' | 'channelitem' | 'claim' | 'clicks' | 'log'>, NextId>
>

export interface Handler {
  readonly load: Load
  /** Returns the stream that last claimed a name, whether or not the claim is still valid. */
  readonly claimant: (claim: Pick<Claim, 'kind' | 'name'>) => Promise<string | undefined>
  /** Loads, decides and appends; after a conflict it decides again on the newer state. Throws `Refused`, `StoreUnavailable`. */
  readonly handle: <C, S, E extends DomainEvent>(
    decider: Decider<C, S, E>,
    command: C,
    context: Context,
  ) => Promise<Handled<S, E>>
  /**
   * Creates a resource under a new id by appending to a stream that must not exist yet: only that append allocates the id. If the
   * stream exists, it is either an earlier attempt of this command, which is then returned, or the id is in use (after the database
   * was restored from a backup): then it tries ids further and further ahead. Throws `Refused`, `StoreUnavailable`.
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

/** Merges writes to the same stream: an append takes each stream once. */
const mergeByStream = (writes: readonly PendingWrite[]) => {
  const streams = new Map<string, PendingWrite>()
  for (const write of writes) {
    const before = streams.get(write.stream)
    streams.set(write.stream, before ? { ...before, events: [...before.events, ...write.events] } : write)
  }
  return [...streams.values()]
}

/** Event ids follow from the command's id, so that the store recognises a retry. */
const append = (store: EventStore, writes: readonly PendingWrite[], context: Context) => {
  let n = 0
  const metadata = { v: 1, ...context }
  const numbered = (event: DomainEvent): New<DomainEvent> => ({
    ...event,
    id: uuid(String(n++), context.command),
    metadata,
  })
  return store.append(mergeByStream(writes).map((write) => ({ ...write, events: write.events.map(numbered) })))
}

type Known<S> = Pick<Loaded<S>, 'state' | 'revision' | 'position'>

/** Decides and appends once; `ok: false` names the stream that has changed meanwhile. */
const attempt = async <C, S, E extends DomainEvent>(
  store: EventStore,
  claimWrites: ReturnType<typeof claimName>,
  decider: Decider<C, S, E>,
  command: C,
  context: Context,
  { state, revision, position }: Known<S>,
) => {
  const stream = streamOf(decider, command)
  const conflict = { ok: false, stream, actual: revision } as const
  const events = decider.decide(command, state)
  if (events.length === 0) return { ok: true, state, events, position } as const
  const claims = decider.claims?.(command, events) ?? []
  const claimant = { stream, account: context.account ?? 0, at: context.at }
  const claimed = await Promise.all(claims.map((claim) => claimWrites(claim, claimant)))
  if (claimed.includes('held')) return conflict
  const before = claimed.flatMap((writes) => (writes === 'held' ? [] : writes))
  // an abandoned claim of this very stream: the fence goes first, then the command is decided again
  const fences = before.filter((write) => write.stream === stream)
  if (fences.length > 0) {
    const fenced = await append(store, fences, context)
    return fenced.ok ? conflict : fenced
  }
  const appended = await append(store, [...before, { stream, expected: revision, events }], context)
  if (!appended.ok) return appended
  return { ok: true, state: fold(decider, events, state), events, position: appended.position } as const
}

export const handler = (store: EventStore): Handler => {
  const load = loader(store)
  const claimAnyName = claimName(store, load)

  return {
    load,

    claimant: async (name) => (await newestClaim(store, name))?.data.holder,

    handle: async (decider, command, context) => {
      for (let n = 1; n <= attempts; n++) {
        const known = await load(decider, decider.id(command))
        const done = await attempt(store, claimAnyName, decider, command, context, known)
        if (done.ok) return done
        await jitter(n)
      }
      return refuse('busy', 'Too many simultaneous changes to this resource. Please try again.')
    },

    create: async (decider, nextId, make, context) => {
      const empty = { state: decider.initialState, revision: 'no_stream', position: 0n } as const
      let id = await nextId()
      for (let n = 1, jump = 1; n <= attempts; n++) {
        const command = make(id)
        const claimWrites = n === 1 ? claimNewName : claimAnyName
        const done = await attempt(store, claimWrites, decider, command, context(id), empty)
        if (done.ok) return { id, ...done }
        if (done.stream === streamOf(decider, command)) {
          const { state, position, createdBy } = await load(decider, decider.id(command))
          if (createdBy === context(id).command) return { id, state, position, events: [] }
          id = await nextId(id + jump)
          jump *= 2
        } else await jitter(n)
      }
      return refuse('busy', 'No free id could be allocated. Please try again.')
    },
  }
}
