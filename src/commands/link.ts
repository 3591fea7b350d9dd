import type { Event } from '../events/index.ts'
import type { LinkEvent, LinkFields } from '../events/link.ts'
import { aliasClaimName, refuseReserved } from './alias.ts'
import { acquire, fence, noTokens, release, type Tokens } from './claim.ts'
import { type Decider, refuse } from './decider.ts'
import { differing, mine } from './owned.ts'
import { refuseTaken } from './taken.ts'

export interface Link {
  readonly status: 'none' | 'open' | 'deleted'
  readonly account: number
  readonly fields: LinkFields
  /** scrypt hash, or `unreadable`, until the owner sets another */
  readonly password: string | null
  readonly tokens: Tokens
}

type Changes = Partial<LinkFields>
export type LinkCommand =
  | {
      readonly type: 'CreateLink'
      readonly id: number
      readonly account: number
      readonly fields: LinkFields
      readonly password: string | null
      readonly token: string
      readonly now: string
    }
  | {
      readonly type: 'UpdateLink'
      readonly id: number
      readonly account: number
      /** only the fields to change */
      readonly changes: Changes
      readonly password?: string | null
      /** of the claim, in case the address changes */
      readonly token: string
      readonly now: string
    }
  | { readonly type: 'DeleteLink'; readonly id: number; readonly account: number }

const notPast = (expiry: string | null | undefined, now: string) =>
  expiry && expiry <= now
    ? refuse('invalid', '`expiry` must be a future date and time in UTC, for example 2030-01-31 18:00:00.')
    : undefined

export const link: Decider<LinkCommand, Link, LinkEvent | Event<'ClaimFenced'>> = {
  kind: 'link',
  version: 2,
  id: ({ id }) => id,
  initialState: {
    status: 'none',
    account: 0,
    password: null,
    tokens: noTokens,
    fields: {
      domain: null,
      alias: '',
      url: '',
      type: 'direct',
      title: '',
      description: '',
      expiry: null,
      location: [],
      device: [],
      language: [],
      metatitle: '',
      metadescription: '',
      metaimage: '',
      parameters: [],
      pixels: [],
      campaign: null,
    },
  },
  decide: (command, state) => {
    const { id, account } = command
    switch (command.type) {
      case 'CreateLink': {
        const { fields, password, token, now } = command
        notPast(fields.expiry, now)
        refuseReserved('custom', fields.alias)
        if (state.status === 'none' && state.tokens.fenced.length === 0)
          return [{ type: 'LinkCreated', data: { id, account, ...fields, password, token } }]
        return state.tokens.held.alias === token ? [] : refuse('invalid', 'This link id is in use.')
      }
      case 'UpdateLink': {
        const { fields, password, tokens } = mine(state, account, 'Link')
        const changes = differing(command.changes, fields)
        const protects = command.password !== undefined && command.password !== password
        if (Object.keys(changes).length === 0 && !protects) return []
        notPast(changes.expiry, command.now)
        const { domain, alias } = { ...fields, ...changes }
        refuseReserved('custom', alias, fields.alias)
        const moved = aliasClaimName({ domain, alias }) !== aliasClaimName(fields)
        if (moved && tokens.fenced.includes(command.token)) return refuseTaken('alias')
        const secret = protects ? { password: command.password ?? null } : {}
        const address = moved ? { token: command.token, changes: { ...changes, domain, alias } } : { changes }
        return [{ type: 'LinkUpdated', data: { id, ...address, ...secret } }]
      }
      case 'DeleteLink':
        mine(state, account, 'Link')
        return [{ type: 'LinkDeleted', data: { id } }]
    }
  },
  evolve: (state, event) => {
    switch (event.type) {
      case 'LinkCreated': {
        const { id: _, account, password, token, ...fields } = event.data
        return { status: 'open', account, fields, password, tokens: acquire(state.tokens, 'alias', token) }
      }
      case 'LinkUpdated': {
        const { changes, password, token } = event.data
        // an older process changes the address without it
        const entered = changes.url === undefined ? {} : { entered: undefined }
        return {
          ...state,
          fields: { ...state.fields, ...entered, ...changes } as LinkFields,
          password: password === undefined ? state.password : password,
          tokens: token ? acquire(state.tokens, 'alias', token) : state.tokens,
        }
      }
      case 'LinkDeleted':
        return { ...state, status: 'deleted', tokens: release(state.tokens, 'alias') }
      case 'ClaimFenced':
        return { ...state, tokens: fence(state.tokens, event.data.token) }
    }
  },
  claims: (_, events) => {
    const [event] = events
    switch (event?.type) {
      case 'LinkCreated':
        return [{ kind: 'alias', name: aliasClaimName(event.data), token: event.data.token }]
      case 'LinkUpdated':
        return event.data.token
          ? [{ kind: 'alias', name: aliasClaimName(event.data.changes as LinkFields), token: event.data.token }]
          : []
      case 'LinkDeleted':
      case 'ClaimFenced':
      case undefined:
        return []
    }
  },
}
