import {
  type BrandedDomainEvent,
  completedDomain,
  type DomainFields,
  type StoredDomainFields,
} from '../../events/domains/domain.ts'
import type { Event } from '../../events/index.ts'
import { acquire, fence, noTokens, releaseUntil, type Tokens } from '../claims/claim.ts'
import { type Decider, refuse } from '../decider.ts'
import { differing, requireOwned } from '../owned/owned.ts'
import { refuseTaken } from '../claims/taken.ts'

export interface Domain {
  readonly status: 'none' | 'open' | 'deleted'
  readonly account: number
  readonly fields: StoredDomainFields
  /** Whether it serves, unless it is deleted. A deleted domain keeps what it was. */
  readonly verified: boolean
  /**
   * how it was verified, a `Proof` of this or a newer release; missing: never, or by an older release, without a check
   */
  readonly proof?: string | undefined
  /** The end of a reservation within which it was restored, without being verified again since. */
  readonly keptUntil?: string | undefined
  /** whether its links have exact aliases: a domain keeps what it was made with */
  readonly exact?: true
  readonly tokens: Tokens
}

type Changes = Partial<Omit<DomainFields, 'domain'>>
/** How a domain was verified; see `DomainVerified`. */
export type Proof = 'txt' | 'dns' | 'off'

export type DomainCommand =
  | {
      readonly type: 'CreateDomain'
      readonly id: number
      readonly account: number
      readonly fields: StoredDomainFields
      /** whether its links have exact aliases; undefined: not, unless it had them before */
      readonly exact?: boolean | undefined
      /** of the claim of the host, in case the domain is verified at once */
      readonly token: string
      /** undefined: it is pending */
      readonly proof?: Proof | undefined
      readonly now: string
    }
  | {
      readonly type: 'UpdateDomain'
      readonly id: number
      readonly account: number
      readonly changes: Changes
      /** the revision that had these values, if the domain is set back to it */
      readonly to?: number
    }
  /** `free`: when the host becomes available to other accounts (ISO 8601) */
  | { readonly type: 'DeleteDomain'; readonly id: number; readonly account: number; readonly free: string }
  /**
   * The domain has passed a check. There is no owner to check: the service itself also sends it. `host` is the domain's
   * own.
   */
  | {
      readonly type: 'VerifyDomain'
      readonly id: number
      readonly host: string
      readonly token: string
      readonly proof: Proof
    }
  /** The domain has failed several checks in a row; `free` as for a deletion. */
  | { readonly type: 'UnverifyDomain'; readonly id: number; readonly free: string }
  /** Ends the domain and the reservation of its host. */
  | { readonly type: 'ReleaseDomain'; readonly id: number; readonly now: string }

/** Returns the host name of a domain's address. */
export const hostOf = ({ domain }: Pick<DomainFields, 'domain'>) => new URL(domain).hostname

/**
 * ms for which the host of a deleted domain, or of one that has failed its checks, stays reserved for its account: 30
 * days
 */
const reservedFor = 30 * 24 * 3600 * 1000
/** Returns until when a host stays reserved that is given up at `now` (both ISO 8601). */
export const hostReservation = (now: string) => new Date(Date.parse(now) + reservedFor).toISOString()

/** Returns until when other accounts cannot have a host that this one does not have now; empty: they can. */
const reservation = ({ tokens: { spent, free } }: Domain, now: string) => {
  const until = free?.[spent.at(-1) ?? ''] ?? ''
  return until > now ? until : ''
}

/** Returns whether a domain, as the newest holder of its host, excludes other accounts from it. */
export const excludesOthers = (state: Domain, now: string) =>
  state.tokens.held.host !== undefined || reservation(state, now) !== ''

/** Throws `Refused` because the account has another domain at the host. */
export const refuseOwn = (id: number): never => refuse('taken', { what: 'own_host', field: 'domain', id })

/**
 * Returns whether passing a check changes a domain: it is not verified, or was restored or verified without a check.
 */
export const canBeProven = (
  { verified, proof = 'off', keptUntil }: Pick<Domain, 'verified' | 'proof' | 'keptUntil'>,
  by: Proof,
) => !verified || keptUntil !== undefined || (proof === 'off' && by !== 'off')

/** An account that no longer has a host could otherwise keep it forever by deleting and adding it in turn. */
const freeAfter = ({ keptUntil }: Domain, { free }: { readonly free: string }) =>
  keptUntil !== undefined && keptUntil < free ? keptUntil : free

type Create = Extract<DomainCommand, { readonly type: 'CreateDomain' }>

/** Returns the events that add a domain or, if the account has deleted it before, restore it under its old id. */
const create = (command: Create, state: Domain): readonly BrandedDomainEvent[] => {
  const { id, account, fields, exact, token, proof, now } = command
  if (state.tokens.held.host === token) return []
  if (state.tokens.fenced.includes(token)) return refuseTaken('host')
  const verified = proof === undefined ? [] : ([{ type: 'DomainVerified', data: { id, token, by: proof } }] as const)
  const made = exact ? ([{ type: 'DomainAliasesMadeExact', data: { id } }] as const) : []
  if (state.status === 'none')
    return [{ type: 'DomainCreated', data: { id, account, ...fields } }, ...made, ...verified]
  if (state.account !== account || hostOf(state.fields) !== hostOf(fields)) return refuseTaken('host')
  if (state.status === 'open') return refuseOwn(id)
  if (exact !== undefined && exact !== (state.exact ?? false))
    return refuse('not_supported', { what: 'other_aliases', field: 'aliases', value: state.exact ? 'exact' : 'folded' })
  const until = state.verified ? reservation(state, now) : ''
  if (until === '') return [{ type: 'DomainRestored', data: { id, ...fields } }, ...verified]
  const restored = { type: 'DomainRestored', data: { id, token, until, ...fields } } as const
  return proof === undefined ? [restored] : [restored, { type: 'DomainVerified', data: { id, by: proof } }]
}

/** Returns the events that end a domain; the host is free for others at once. */
const releaseNow = (id: number, state: Domain, free: string): readonly BrandedDomainEvent[] => {
  const released = { type: 'DomainReleased', data: { id, free } } as const
  if (state.status === 'open') return [{ type: 'DomainDeleted', data: { id, free } }, released]
  return reservation(state, free) === '' ? [] : [released]
}

export const domain: Decider<DomainCommand, Domain, BrandedDomainEvent | Event<'ClaimFenced'>> = {
  kind: 'domain',
  version: 5,
  id: ({ id }) => id,
  initialState: {
    status: 'none',
    account: 0,
    fields: { domain: '', redirectroot: '', redirect404: '' },
    verified: false,
    tokens: noTokens,
  },
  decide: (command, state) => {
    const { id } = command
    switch (command.type) {
      case 'CreateDomain':
        return create(command, state)
      case 'UpdateDomain': {
        const { fields } = requireOwned(state, command.account, 'domain')
        const changes = differing<DomainFields>(command.changes, completedDomain(fields))
        const to = command.to === undefined ? {} : { to: command.to }
        return Object.keys(changes).length > 0 ? [{ type: 'DomainUpdated', data: { id, ...to, changes } }] : []
      }
      case 'DeleteDomain':
        return [
          {
            type: 'DomainDeleted',
            data: { id, free: freeAfter(requireOwned(state, command.account, 'domain'), command) },
          },
        ]
      case 'VerifyDomain': {
        const { token, proof, host } = command
        if (state.status !== 'open' || hostOf(state.fields) !== host || !canBeProven(state, proof)) return []
        if (state.tokens.fenced.includes(token)) return refuseTaken('host')
        const claim = state.tokens.held.host === undefined ? { token } : {}
        return [{ type: 'DomainVerified', data: { id, ...claim, by: proof } }]
      }
      case 'UnverifyDomain':
        // older releases kept the host of a domain that failed its checks
        return state.status === 'open' && (state.verified || state.tokens.held.host !== undefined)
          ? [{ type: 'DomainUnverified', data: { id, free: command.free } }]
          : []
      case 'ReleaseDomain':
        return releaseNow(id, state, command.now)
    }
  },
  evolve: (state, event) => {
    const claimed = (token: string | undefined) =>
      token === undefined ? state.tokens : acquire(state.tokens, 'host', token)
    switch (event.type) {
      case 'DomainCreated': {
        const { id: _, account, token, ...fields } = event.data
        return { status: 'open', account, fields, verified: token !== undefined, tokens: claimed(token) }
      }
      case 'DomainAliasesMadeExact':
        return { ...state, exact: true }
      case 'DomainRestored': {
        const { id: _, token, until, ...fields } = event.data
        const verified = token !== undefined
        const proof = verified ? state.proof : undefined
        return { ...state, status: 'open', fields, verified, proof, keptUntil: until, tokens: claimed(token) }
      }
      case 'DomainUpdated':
        return { ...state, fields: { ...state.fields, ...(event.data.changes as Changes) } }
      case 'DomainDeleted':
        return { ...state, status: 'deleted', tokens: releaseUntil(state.tokens, 'host', event.data.free) }
      case 'DomainUnverified': {
        const { free } = event.data
        return {
          ...state,
          verified: false,
          keptUntil: undefined,
          tokens: free === undefined ? state.tokens : releaseUntil(state.tokens, 'host', free),
        }
      }
      case 'DomainVerified': {
        const { token, by = state.proof } = event.data
        return { ...state, verified: true, proof: by, keptUntil: undefined, tokens: claimed(token) }
      }
      case 'DomainReleased': {
        const free = Object.entries(state.tokens.free ?? {}).map(([token, until]) => [
          token,
          until < event.data.free ? until : event.data.free,
        ])
        return {
          ...state,
          verified: false,
          proof: undefined,
          tokens: { ...state.tokens, free: Object.fromEntries(free) },
        }
      }
      case 'ClaimFenced':
        return { ...state, tokens: fence(state.tokens, event.data.token) }
    }
  },
  claims: (command, events) => {
    const host =
      command.type === 'CreateDomain'
        ? hostOf(command.fields)
        : command.type === 'VerifyDomain'
          ? command.host
          : undefined
    if (host === undefined) return []
    return events.flatMap((event) =>
      (event.type === 'DomainRestored' || event.type === 'DomainVerified') && event.data.token !== undefined
        ? [{ kind: 'host', name: host, token: event.data.token } as const]
        : [],
    )
  },
}
