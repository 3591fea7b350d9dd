import type { Recorded } from '../events/event.ts'
import type { Event } from '../events/index.ts'
import { streamId } from '../events/streams.ts'

/** Kinds of unique names, and who may have one that its holder has given up: nobody but the same account, or anyone. */
const reserved = { alias: true, host: true, qr: true, slug: true, username: true, email: false } as const
export type ClaimKind = keyof typeof reserved

/** `name` is unique within its kind; `token` is repeated by the resource's event and ties the two together. */
export interface Claim {
  readonly kind: ClaimKind
  readonly name: string
  readonly token: string
}
export const claimStream = ({ kind, name }: Pick<Claim, 'kind' | 'name'>) => streamId('claim', kind, name)

/** What a resource remembers of its claims: tokens it holds (by kind), tokens it held once, tokens it can never hold. */
export interface Tokens {
  readonly held: Readonly<Partial<Record<ClaimKind, string>>>
  readonly spent: readonly string[]
  readonly fenced: readonly string[]
  /** when a spent token's name, reserved for its account until then, is free for others (ISO 8601) */
  readonly free?: Readonly<Record<string, string>>
}
export const noTokens: Tokens = { held: {}, spent: [], fenced: [] }

export const acquire = (tokens: Tokens, kind: ClaimKind, token: string): Tokens => {
  const before = tokens.held[kind]
  return {
    ...tokens,
    held: { ...tokens.held, [kind]: token },
    spent: before ? [...tokens.spent, before] : tokens.spent,
  }
}
export const release = (tokens: Tokens, ...kinds: readonly ClaimKind[]): Tokens => ({
  ...tokens,
  held: Object.fromEntries(Object.entries(tokens.held).filter(([kind]) => !kinds.includes(kind as ClaimKind))),
  spent: [...tokens.spent, ...kinds.flatMap((kind) => tokens.held[kind] ?? [])],
})
/** Gives a name up, reserved for its account only until the time. */
export const releaseUntil = (tokens: Tokens, kind: ClaimKind, free: string): Tokens => {
  const token = tokens.held[kind]
  const released = release(tokens, kind)
  return token === undefined ? released : { ...released, free: { ...tokens.free, [token]: free } }
}
export const fence = (tokens: Tokens, token: string): Tokens => ({ ...tokens, fenced: [...tokens.fenced, token] })

/** After this time an unfinished claim may be taken over. A clock for liveness only: safety is the fence. */
export const graceMs = 30_000

export type Verdict = 'free' | 'ours' | 'taken' | 'abandoned'

/**
 * What the newest claim of a name means for a new one, given what its holder's fold remembers:
 * `abandoned` has to be fenced off in the holder's stream before the name can be taken.
 */
export const evaluateClaim = (
  { kind, token }: Claim,
  claimed: Recorded<Event<'NameClaimed'>>,
  holder: Tokens,
  account: number,
  now: number,
): Verdict => {
  const { data } = claimed
  if (data.token === token) return 'ours'
  if (Object.values(holder.held).includes(data.token)) return 'taken'
  if (holder.fenced.includes(data.token)) return 'free'
  if (holder.spent.includes(data.token)) {
    const free = holder.free?.[data.token]
    const others = free === undefined ? !reserved[kind] : Date.parse(free) <= now
    return others || data.account === account ? 'free' : 'taken'
  }
  return now - Date.parse(claimed.at) > graceMs ? 'abandoned' : 'taken'
}
