import type { Recorded } from '../../events/event.ts'
import type { DomainEvent, Event } from '../../events/index.ts'
import { isNamed, type NamedKind } from '../../events/kinds.ts'
import type { EventStore, ExpectedRevision } from '../../events/store.ts'
import { parseStreamId } from '../../events/streams.ts'
import { ChangedByNewer, isUnknown } from '../../events/unknown.ts'
import { account } from '../accounts/account.ts'
import { bio } from '../pages/bio.ts'
import { campaign } from '../links/campaign.ts'
import { type Claim, type ClaimKind, claimStream, evaluateClaim, type Tokens } from './claim.ts'
import { domain } from '../domains/domain.ts'
import { link } from '../links/link.ts'
import type { Load, Loaded } from '../load.ts'
import { qr } from '../qr/qr.ts'
import { refuseTaken } from './taken.ts'

/** A write whose events have no ids or metadata yet. */
export interface PendingWrite {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly DomainEvent[]
}

/** A resource that needs a unique name: its stream, its account, and the id and time (ISO 8601) of the command. */
export interface Claimant {
  readonly stream: string
  readonly account: number
  readonly command: string
  readonly at: string
}

/**
 * Returns the writes that have to precede the resource's own events, or `held` when the resource already holds the name
 * and has to decide again. Throws `Refused` when the name is taken.
 */
export type ClaimWrites = (claim: Claim, claimant: Claimant) => Promise<readonly PendingWrite[] | 'held'>

const nameClaimed = (claim: Claim, { stream, account }: Claimant, expected: ExpectedRevision): PendingWrite => ({
  stream: claimStream(claim),
  expected,
  events: [{ type: 'NameClaimed', data: { token: claim.token, holder: stream, account } }],
})

/** Claims a name without reading its stream: most names are new, and the append fails if this one is not. */
export const claimNewName: ClaimWrites = async (claim, claimant) => [nameClaimed(claim, claimant, 'no_stream')]

const nameOf: Readonly<Record<ClaimKind, string>> = {
  alias: 'alias',
  host: 'domain',
  qr: 'alias',
  slug: 'slug',
  email: 'email',
  username: 'username',
  identity: 'identity',
  passkey: 'passkey',
}

/** Links call a chosen alias `custom`; the alias of a QR code is always random. */
const aliasField = ({ kind }: Pick<Claim, 'kind'>, { stream }: Pick<Claimant, 'stream'>) =>
  kind === 'alias' ? (parseStreamId(stream).kind === 'link' ? 'custom' : 'alias') : undefined

/** A newer release has changed the claim of a name. The message must not disclose whose resource has it. */
const takenByNewer = (kind: ClaimKind) => new ChangedByNewer(`The resource with this ${nameOf[kind]}`)

/** Returns the newest claim of a name, or undefined if it was never claimed. Throws `ChangedByNewer`. */
export const newestClaim = async (store: Pick<EventStore, 'last'>, name: Pick<Claim, 'kind' | 'name'>) => {
  const last = await store.last(claimStream(name))
  if (last && isUnknown(last)) throw takenByNewer(name.kind)
  // a stream of a claim has no other events
  return last as Recorded<Event<'NameClaimed'>> | undefined
}

type LoadHolder = (stream: string) => Promise<Loaded<{ readonly tokens: Tokens }>>

/** Loads the resource that a claim names as its holder, each once. */
const holderLoader = (load: Load): LoadHolder => {
  const loaded = new Map<string, ReturnType<LoadHolder>>()
  const holders: Readonly<Record<NamedKind, LoadHolder>> = {
    account: (id) => load(account, id),
    bio: (id) => load(bio, id),
    campaign: (id) => load(campaign, id),
    domain: (id) => load(domain, id),
    link: (id) => load(link, id),
    qr: (id) => load(qr, id),
  }
  return (stream) => {
    const { kind, id } = parseStreamId(stream)
    if (!isNamed(kind)) throw new Error(`stream ${stream} cannot hold a unique name`)
    const found = loaded.get(stream) ?? holders[kind](id)
    loaded.set(stream, found)
    return found
  }
}

const claimFenced = (holder: string, expected: ExpectedRevision, token: string): PendingWrite => ({
  stream: holder,
  expected,
  events: [{ type: 'ClaimFenced', data: { token } }],
})

/**
 * Claims names for one attempt, given the newest claim of each and the state of the resource that made it: a link with
 * a hundred addresses is loaded once.
 */
export const claimName = (store: Pick<EventStore, 'last'>, load: Load): ClaimWrites => {
  const loadHolder = holderLoader(load)
  return async (claim, claimant) => {
    const newest = await newestClaim(store, claim)
    if (!newest) return claimNewName(claim, claimant)
    const take = nameClaimed(claim, claimant, newest.revision)
    const { token, holder } = newest.data
    const { state, revision } = await loadHolder(holder).catch((error: unknown) => {
      throw error instanceof ChangedByNewer && holder !== claimant.stream ? takenByNewer(claim.kind) : error
    })
    // does not wait for a claim that an earlier execution of the same command left
    const now = newest.metadata.command === claimant.command ? Infinity : Date.parse(claimant.at)
    switch (evaluateClaim(claim, newest, state.tokens, claimant.account, now)) {
      case 'free':
        return [take]
      case 'ours':
        return holder === claimant.stream ? [] : [take]
      case 'abandoned':
        return [claimFenced(holder, revision, token), take]
      case 'taken':
        if (holder === claimant.stream && Object.values(state.tokens.held).includes(token)) return 'held'
        return refuseTaken(claim.kind, aliasField(claim, claimant))
    }
  }
}

/** Returns the stream of the resource that has a name, and the token of its claim; undefined while none has it. */
export const findHolder = async (store: Pick<EventStore, 'last'>, load: Load, name: Pick<Claim, 'kind' | 'name'>) => {
  const newest = await newestClaim(store, name)
  if (!newest) return undefined
  const { token, holder } = newest.data
  const { held } = (await holderLoader(load)(holder)).state.tokens
  return Object.values(held).includes(token) ? { stream: holder, token } : undefined
}

/**
 * Returns the write that frees a name whose claim will not be used, so that the next request need not wait until it
 * counts as abandoned. Undefined when the claim was not stored, or its resource has used it.
 */
export const releaseClaim = (store: Pick<EventStore, 'last'>, load: Load) => {
  const loadHolder = holderLoader(load)
  return async (claim: Claim): Promise<PendingWrite | undefined> => {
    const newest = await newestClaim(store, claim)
    if (newest?.data.token !== claim.token) return undefined
    const { token, holder } = newest.data
    const { state, revision } = await loadHolder(holder)
    const { held, spent, fenced } = state.tokens
    const isSettled = [...Object.values(held), ...spent, ...fenced].includes(token)
    return isSettled ? undefined : claimFenced(holder, revision, token)
  }
}
