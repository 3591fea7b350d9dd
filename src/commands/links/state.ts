import type { Event } from '../../events/index.ts'
import type { ImportedClicks, LinkEvent, StoredLinkFields, Unframed } from '../../events/links/link.ts'
import { acquire, fence, noTokens, type Tokens } from '../claims/claim.ts'
import { type Places, withAddress, withMain, withoutAddress, withoutAll } from './places.ts'

export interface Link {
  readonly status: 'none' | 'open' | 'deleted'
  readonly account: number
  readonly fields: StoredLinkFields
  /** scrypt hash, or `unreadable`, until the owner sets another */
  readonly password: string | null
  readonly tokens: Tokens
  /** undefined: it has had no other address than that in `fields` */
  readonly places?: Places
  /** destinations that refuse to be framed, also former ones; undefined until one is known */
  readonly unframed: readonly Unframed[] | undefined
  /** when it was made at the service that it comes from (ISO 8601) */
  readonly created?: string
  /** what other services have counted, by their names */
  readonly imported?: Readonly<Record<string, ImportedClicks>>
}

export const noLink: Link = {
  status: 'none',
  account: 0,
  password: null,
  tokens: noTokens,
  unframed: undefined,
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
}

/** Returns the state after an event. */
export const evolveLink = (state: Link, event: LinkEvent | Event<'ClaimFenced'>): Link => {
  switch (event.type) {
    case 'LinkCreated': {
      const { id: _, account, password, token, created, import: _import, ...fields } = event.data
      const tokens = acquire(state.tokens, 'alias', token)
      return { ...state, status: 'open', account, fields, password, tokens, ...(created !== undefined && { created }) }
    }
    case 'LinkUpdated':
    case 'LinkRestored': {
      const { changes, notes, password } = event.data
      // an older process changes the address without it
      const entered = changes.url === undefined ? {} : { entered: undefined }
      return {
        ...state,
        status: 'open',
        fields: {
          ...state.fields,
          ...entered,
          ...changes,
          ...(notes === undefined ? {} : { notes }),
        } as StoredLinkFields,
        password: password === undefined ? state.password : password,
        ...withMain(state, event.data),
      }
    }
    case 'LinkDeleted':
      return { ...state, status: 'deleted', ...withoutAll(state) }
    case 'LinkAddressAdded':
      return { ...state, ...withAddress(state, event.data) }
    case 'LinkAddressRemoved':
      return { ...state, ...withoutAddress(state, event.data.address) }
    case 'LinkFramingChecked':
      return { ...state, unframed: event.data.unframed }
    case 'ClicksImported': {
      const { source, clicks, uniques } = event.data
      return { ...state, imported: { ...state.imported, [source]: { clicks, uniques } } }
    }
    case 'ClaimFenced':
      return { ...state, tokens: fence(state.tokens, event.data.token) }
  }
}

/** Returns how many clicks other services have counted. */
export const importedClicks = ({ imported = {} }: Pick<Link, 'imported'>): number =>
  Object.values(imported).reduce((sum, { clicks }) => sum + clicks, 0)
