import type { Recorded } from '../../events/event.ts'
import type { Event } from '../../events/index.ts'
import { streamId } from '../../events/streams.ts'

/** The kinds of unique names, and whether a released name stays reserved for its account. */
const reserved = {
  alias: true,
  host: true,
  qr: true,
  slug: true,
  username: true,
  email: false,
  identity: false,
  passkey: false,
} as const
export type ClaimKind = keyof typeof reserved
/**
 * What a resource has a name as: it has one of each kind, but an account may have several identities and passkeys, and
 * a link several aliases.
 */
export type Slot = ClaimKind | `identity ${number}` | `passkey ${number}` | `alias ${number}`

/**
 * A claim of a unique name. `name` is unique within its kind; the resource's event repeats `token`, which makes the
 * claim valid.
 */
export interface Claim {
  readonly kind: ClaimKind
  readonly name: string
  readonly token: string
}
export const claimStream = ({ kind, name }: Pick<Claim, 'kind' | 'name'>) => streamId('claim', kind, name)

/**
 * The claims of a resource: tokens of the names it has (by kind), of names it has released, and of claims that were
 * fenced off.
 */
export interface Tokens {
  readonly held: Readonly<Partial<Record<Slot, string>>>
  readonly spent: readonly string[]
  readonly fenced: readonly string[]
  /** by spent token: when its name, until then reserved for its account, is free for others (ISO 8601) */
  readonly free?: Readonly<Record<string, string>>
}
export const noTokens: Tokens = { held: {}, spent: [], fenced: [] }

/** Adds the token of a claim; the token of the name before is spent. */
export const acquire = (tokens: Tokens, kind: Slot, token: string): Tokens => {
  const before = tokens.held[kind]
  return {
    ...tokens,
    held: { ...tokens.held, [kind]: token },
    spent: before ? [...tokens.spent, before] : tokens.spent,
  }
}
/** Releases the names of these kinds. */
export const release = (tokens: Tokens, ...kinds: readonly Slot[]): Tokens => ({
  ...tokens,
  held: Object.fromEntries(Object.entries(tokens.held).filter(([kind]) => !kinds.includes(kind as Slot))),
  spent: [...tokens.spent, ...kinds.flatMap((kind) => tokens.held[kind] ?? [])],
})
/** Releases a name that stays reserved for its account until a time (ISO 8601). */
export const releaseUntil = (tokens: Tokens, kind: ClaimKind, free: string): Tokens => {
  const token = tokens.held[kind]
  const released = release(tokens, kind)
  return token === undefined ? released : { ...released, free: { ...tokens.free, [token]: free } }
}
/** Excludes a token for good: the resource can no longer acquire the name with it. */
export const fence = (tokens: Tokens, token: string): Tokens => ({ ...tokens, fenced: [...tokens.fenced, token] })

/**
 * ms after which an unfinished claim may be taken over. The clock is for liveness only; the fence makes the takeover
 * safe.
 */
export const graceMs = 30_000

export type Verdict = 'free' | 'ours' | 'taken' | 'abandoned'

/**
 * Evaluates a new claim of a name against the newest one, given the tokens of the resource that made that. An
 * `abandoned` claim has to be fenced off in that resource's stream before the name can be taken. `now` is in ms since
 * 1970.
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
