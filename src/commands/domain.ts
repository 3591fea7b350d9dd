import type { BrandedDomainEvent, DomainFields } from '../events/domain.ts'
import type { Event } from '../events/index.ts'
import { acquire, fence, noTokens, releaseUntil, type Tokens } from './claim.ts'
import type { Decider } from './decider.ts'
import { differing, mine } from './owned.ts'
import { refuseTaken } from './taken.ts'

export interface Domain {
  readonly status: 'none' | 'open' | 'deleted'
  readonly account: number
  readonly fields: DomainFields
  readonly verified: boolean
  readonly tokens: Tokens
}

type Targets = Pick<DomainFields, 'redirectroot' | 'redirect404'>
export type DomainCommand =
  | {
      readonly type: 'CreateDomain'
      readonly id: number
      readonly account: number
      readonly fields: DomainFields
      readonly token: string
    }
  | { readonly type: 'UpdateDomain'; readonly id: number; readonly account: number; readonly changes: Partial<Targets> }
  /** `free`: when the host becomes available to other accounts (ISO 8601) */
  | { readonly type: 'DeleteDomain'; readonly id: number; readonly account: number; readonly free: string }
  /** The result of a regular DNS check; sent by the service itself, so there is no owner to check. */
  | { readonly type: 'CheckDomain'; readonly id: number; readonly verified: boolean }

/** Returns the host name of a domain's address. */
export const hostOf = ({ domain }: Pick<DomainFields, 'domain'>) => new URL(domain).hostname

export const domain: Decider<DomainCommand, Domain, BrandedDomainEvent | Event<'ClaimFenced'>> = {
  kind: 'domain',
  version: 1,
  id: ({ id }) => id,
  initialState: {
    status: 'none',
    account: 0,
    fields: { domain: '', redirectroot: '', redirect404: '' },
    verified: true,
    tokens: noTokens,
  },
  decide: (command, state) => {
    const { id } = command
    switch (command.type) {
      case 'CreateDomain': {
        const { account, fields, token } = command
        if (state.tokens.held.host === token) return []
        if (state.tokens.fenced.includes(token)) return refuseTaken('host')
        if (state.status === 'none') return [{ type: 'DomainCreated', data: { id, account, token, ...fields } }]
        // the domain is restored under its old id, so that its links work again
        return state.status === 'deleted' && state.account === account && hostOf(state.fields) === hostOf(fields)
          ? [{ type: 'DomainRestored', data: { id, token, ...fields } }]
          : refuseTaken('host')
      }
      case 'UpdateDomain': {
        const changes = differing(command.changes, mine(state, command.account, 'Domain').fields)
        return Object.keys(changes).length > 0 ? [{ type: 'DomainUpdated', data: { id, changes } }] : []
      }
      case 'DeleteDomain':
        mine(state, command.account, 'Domain')
        return [{ type: 'DomainDeleted', data: { id, free: command.free } }]
      case 'CheckDomain':
        if (state.status !== 'open' || state.verified === command.verified) return []
        return [{ type: command.verified ? 'DomainVerified' : 'DomainUnverified', data: { id } }]
    }
  },
  evolve: (state, event) => {
    switch (event.type) {
      case 'DomainCreated': {
        const { id: _, account, token, ...fields } = event.data
        return { status: 'open', account, fields, verified: true, tokens: acquire(state.tokens, 'host', token) }
      }
      case 'DomainRestored': {
        const { id: _, token, ...fields } = event.data
        return { ...state, status: 'open', fields, verified: true, tokens: acquire(state.tokens, 'host', token) }
      }
      case 'DomainUpdated':
        return { ...state, fields: { ...state.fields, ...(event.data.changes as Partial<Targets>) } }
      case 'DomainDeleted':
        return { ...state, status: 'deleted', tokens: releaseUntil(state.tokens, 'host', event.data.free) }
      case 'DomainUnverified':
        return { ...state, verified: false }
      case 'DomainVerified':
        return { ...state, verified: true }
      case 'ClaimFenced':
        return { ...state, tokens: fence(state.tokens, event.data.token) }
    }
  },
  claims: (_, events) => {
    const [event] = events
    return event?.type === 'DomainCreated' || event?.type === 'DomainRestored'
      ? [{ kind: 'host', name: hostOf(event.data), token: event.data.token }]
      : []
  },
}
