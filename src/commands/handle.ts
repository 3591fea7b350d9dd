import { v5 as uuid } from 'uuid'
import type { Actor, New, Recorded } from '../events/event.ts'
import type { DomainEvent, Event } from '../events/index.ts'
import type { EventStore, ExpectedRevision } from '../events/store.ts'
import { account } from './account.ts'
import { bio } from './bio.ts'
import { campaign } from './campaign.ts'
import { type Claim, type ClaimKind, claimStream, judge, type Tokens } from './claim.ts'
import { type Decider, fold, refuse } from './decider.ts'
import { domain } from './domain.ts'
import { link } from './link.ts'
import { qr } from './qr.ts'

/** Whose wish it is, and when. `command` is the id under which the wish is recognised should it come again. */
export interface Context {
  readonly account: number | null
  readonly actor: Actor
  readonly request: string
  readonly command: string
  readonly at: string
}
/** `position`: that of the last event appended, or for a wish that already held, of the last one read. */
export interface Handled<S, E> {
  readonly state: S
  readonly events: readonly E[]
  readonly position: bigint
}
export interface Loaded<S> {
  readonly state: S
  readonly revision: ExpectedRevision
  readonly position: bigint
  /** when the stream's first event was appended, ISO 8601; `` for a stream that is empty or began with a fence */
  readonly since: string
  /** id of the command that wrote the stream's first event, if that is no fence */
  readonly founder: string
}
/** Draws the next id of a kind of resource, greater than `past`. */
export type NextId = (past?: number) => Promise<number>

type Claimed = (claim: Claim, forStream: string, owner: number, at: string) => Promise<Intent[] | 'held'>
interface Intent {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly DomainEvent[]
}

const tries = 50
const shortly = (attempt: number) => new Promise((done) => setTimeout(done, Math.random() * Math.min(attempt, 10) * 4))

export const handler = (store: EventStore) => {
  const load = async <C, S, E extends DomainEvent>(decider: Decider<C, S, E>, stream: string): Promise<Loaded<S>> => {
    let loaded: Loaded<S> = { state: decider.initialState, revision: 'no_stream', position: 0n, since: '', founder: '' }
    for await (const event of store.read(stream)) {
      const { revision, position } = event
      const state = decider.evolve(loaded.state, event as unknown as E)
      const founds = revision === 0n && event.type !== 'ClaimFenced'
      const first = founds ? { since: event.at, founder: event.metadata.command } : loaded
      loaded = { ...loaded, ...first, state, revision, position }
    }
    return loaded
  }

  /** Of the resources that can hold a unique name, by the prefix of their streams. */
  const holders: Record<string, (stream: string) => Promise<Loaded<{ readonly tokens: Tokens }>>> = {
    link: (stream) => load(link, stream),
    account: (stream) => load(account, stream),
    bio: (stream) => load(bio, stream),
    campaign: (stream) => load(campaign, stream),
    domain: (stream) => load(domain, stream),
    qr: (stream) => load(qr, stream),
  }
  const holder = (stream: string) => {
    const read = holders[stream.slice(0, stream.indexOf('-'))]
    if (!read) throw new Error(`${stream} is not a stream that can hold a unique name`)
    return read(stream)
  }

  /**
   * What has to be appended before the resource may carry the claim's token; `held` when the resource has the name by now, so that it has
   * to decide again. Throws `Refused` when the name is taken.
   */
  const claimedAsItStands: Claimed = async (claim, forStream, owner, at) => {
    const stream = claimStream(claim)
    const newest = (await store.last(stream)) as Recorded<Event<'NameClaimed'>> | undefined
    const take = taking(claim, forStream, owner, newest?.revision ?? 'no_stream')
    if (!newest) return [take]
    const { token, holder: late } = newest.data
    const { state, revision } = await holder(late)
    switch (judge(claim, newest, state.tokens, owner, Date.parse(at))) {
      case 'free':
        return [take]
      case 'ours':
        return late === forStream ? [] : [take]
      case 'abandoned':
        return [{ stream: late, expected: revision, events: [{ type: 'ClaimFenced', data: { token } }] }, take]
      case 'taken':
        if (late === forStream && Object.values(state.tokens.held).includes(token)) return 'held'
        return refuse('taken', taken[claim.kind], claim.kind)
    }
  }

  const append = (intents: readonly Intent[], { command, ...context }: Context) => {
    let n = 0
    const metadata = { v: 1, ...context, command }
    const numbered = (event: DomainEvent): New<DomainEvent> => ({ ...event, id: uuid(String(n++), command), metadata })
    return store.append(merged(intents).map((intent) => ({ ...intent, events: intent.events.map(numbered) })))
  }

  const attempt = async <C, S, E extends DomainEvent>(
    decider: Decider<C, S, E>,
    command: C,
    context: Context,
    { state, revision, position }: Pick<Loaded<S>, 'state' | 'revision' | 'position'>,
    claimed = claimedAsItStands,
  ) => {
    const stream = decider.stream(command)
    const events = decider.decide(command, state)
    if (events.length === 0) return { ok: true, state, events, position } as const
    const claims = decider.claims?.(command, events) ?? []
    const owner = context.account ?? 0
    const claimings = await Promise.all(claims.map((claim) => claimed(claim, stream, owner, context.at)))
    const before = claimings.flatMap((intents) => (intents === 'held' ? [] : intents))
    if (claimings.includes('held')) return { ok: false, stream, actual: revision } as const
    // a dead claim of this very stream: its fence has to stand before the name is taken, the events only after that
    const fences = before.filter((intent) => intent.stream === stream)
    if (fences.length > 0) {
      const fenced = await append(fences, context)
      return fenced.ok ? ({ ok: false, stream, actual: revision } as const) : fenced
    }
    const appended = await append([...before, { stream, expected: revision, events }], context)
    return appended.ok
      ? ({ ok: true, state: fold(decider, events, state), events, position: appended.position } as const)
      : appended
  }

  return {
    load,

    /** The stream of whom a name was last claimed for, living or not. */
    claimant: async (claim: Pick<Claim, 'kind' | 'name'>): Promise<string | undefined> => {
      const newest = (await store.last(claimStream(claim))) as Recorded<Event<'NameClaimed'>> | undefined
      return newest?.data.holder
    },

    /** Load, decide, append; on a conflict decide again on the newer state. Throws `Refused`, `StoreUnavailable`. */
    handle: async <C, S, E extends DomainEvent>(
      decider: Decider<C, S, E>,
      command: C,
      context: Context,
    ): Promise<Handled<S, E>> => {
      for (let n = 1; n <= tries; n++) {
        const done = await attempt(decider, command, context, await load(decider, decider.stream(command)))
        if (done.ok) return done
        await shortly(n)
      }
      return refuse('busy', 'This resource is being changed by many at once; try again.')
    },

    /**
     * Decides on nothing and appends to a stream that must not exist: that alone allocates the id. A stream that exists is our own
     * earlier try, or an id that is somebody's (after a database was restored): then the next one, further on each time.
     */
    create: async <C, S, E extends DomainEvent>(
      decider: Decider<C, S, E>,
      nextId: NextId,
      make: (id: number) => C,
      context: (id: number) => Context,
    ): Promise<Handled<S, E> & { readonly id: number }> => {
      let id = await nextId()
      for (let n = 1, jump = 1; n <= tries; n++) {
        const command = make(id)
        const empty = { state: decider.initialState, revision: 'no_stream', position: 0n } as const
        const done = await attempt(decider, command, context(id), empty, n === 1 ? claimedAsNew : claimedAsItStands)
        if (done.ok) return { id, ...done }
        if (done.stream === decider.stream(command)) {
          const { state, position, founder } = await load(decider, done.stream)
          if (founder === context(id).command) return { id, state, position, events: [] }
          id = await nextId(id + jump)
          jump *= 2
        } else await shortly(n)
      }
      return refuse('busy', 'No free id was found; try again.')
    },
  }
}
export type Handler = ReturnType<typeof handler>

const taken: Record<ClaimKind, string> = {
  alias: 'This alias is taken: choose another.',
  host: 'domain: is taken.',
  qr: 'This alias of a QR code is taken.',
  slug: 'slug: is taken, choose another.',
  email: 'email: this e-mail is taken by another account.',
  username: 'username: this username is taken, choose another.',
}

const taking = (claim: Claim, holder: string, account: number, expected: ExpectedRevision): Intent => ({
  stream: claimStream(claim),
  expected,
  events: [{ type: 'NameClaimed', data: { token: claim.token, holder, account } }],
})
/** Most names have never been claimed: that is tried without looking, and the append tells when it was wrong. */
const claimedAsNew: Claimed = async (claim, forStream, owner) => [taking(claim, forStream, owner, 'no_stream')]

/** One write a stream: the port takes each stream once. */
const merged = (intents: readonly Intent[]) => {
  const streams = new Map<string, Intent>()
  for (const intent of intents) {
    const before = streams.get(intent.stream)
    streams.set(intent.stream, before ? { ...before, events: [...before.events, ...intent.events] } : intent)
  }
  return [...streams.values()]
}
