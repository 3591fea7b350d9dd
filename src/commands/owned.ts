import type { Event } from '../events/index.ts'
import type { OwnedCreated, OwnedDeleted, OwnedEvent, OwnedUpdated } from '../events/owned.ts'
import type { StreamKind } from '../events/streams.ts'
import { defined } from '../lib/defined.ts'
import { refuseReserved } from './alias.ts'
import { acquire, type ClaimKind, fence, noTokens, release, type Tokens } from './claim.ts'
import { type Decider, refuse } from './decider.ts'
import { refuseTaken } from './taken.ts'

/** The state of a resource that an account owns. */
export interface Owned<F> {
  readonly status: 'none' | 'open' | 'deleted'
  readonly account: number
  readonly fields: F
  readonly tokens: Tokens
}

/** `token` is that of the claim, for a resource with a unique name. */
export type OwnedCommand<F> =
  | {
      readonly type: 'Create'
      readonly id: number
      readonly account: number
      readonly fields: F
      readonly token?: string
    }
  | {
      readonly type: 'Update'
      readonly id: number
      readonly account: number
      readonly changes: Partial<F>
      readonly token?: string
    }
  | { readonly type: 'Delete'; readonly id: number; readonly account: number }

/** The types of a resource's events. */
export interface OwnedNames<C, U, D> {
  readonly created: C
  readonly updated: U
  readonly deleted: D
}

export interface OwnedOptions<Open, P> {
  readonly kind: StreamKind
  /** see `Decider`; also goes up when `owned` itself folds differently */
  readonly version: number
  /** what clients call the resource, as in `Pixel not found.` */
  readonly label: string
  /** the fields of a resource that does not exist yet */
  readonly initial: Open
  /** likewise, the fields that its events store sealed */
  readonly personal?: P
  /** its unique name, if it has one */
  readonly claim?: {
    readonly kind: ClaimKind
    readonly name: (fields: Open) => string
    /** the field that the user chooses and that must not be a reserved word */
    readonly chosen?: keyof Open & string
  }
}

/** A field that older events do not have is undefined; null says the same. */
const same = (a: unknown, b: unknown) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null)
/** Returns the changes that differ from the fields. */
export const differing = <F extends object>(changes: Partial<F>, fields: F): Partial<F> =>
  Object.fromEntries(
    Object.entries(changes).filter(([name, value]) => value !== undefined && !same(value, fields[name as keyof F])),
  ) as Partial<F>

interface PickLike {
  <T extends object>(template: T, from: T): T
  <T extends object>(template: T, from: Partial<T>): Partial<T>
}
/** Returns the entries whose keys the template has. */
const pickLike: PickLike = <T extends object>(template: T, from: Partial<T>) =>
  Object.fromEntries(Object.entries(from).filter(([name]) => Object.hasOwn(template, name))) as T

/** Returns the state if the resource exists and belongs to the account; else throws `not_found`, so that existence is not disclosed. */
export const mine = <S extends { readonly status: string; readonly account: number }>(
  state: S,
  account: number,
  label: string,
): S => (state.status === 'open' && state.account === account ? state : refuse('not_found', `${label} not found.`))

/** Returns the decider of a resource that an account creates, updates and deletes, and that has no rules beyond that. */
export const owned = <
  C extends string,
  U extends string,
  D extends string,
  Open extends object,
  P extends object = Record<never, never>,
>(
  names: OwnedNames<C, U, D>,
  { kind, version, label, initial, personal = {} as P, claim }: OwnedOptions<Open, P>,
): Decider<OwnedCommand<Open & P>, Owned<Open & P>, OwnedEvent<C, U, D, Open, P> | Event<'ClaimFenced'>> => {
  type E = OwnedEvent<C, U, D, Open, P> | Event<'ClaimFenced'>
  const isCreated = (event: E): event is OwnedCreated<C, Open & P> => event.type === names.created
  const isUpdated = (event: E): event is OwnedUpdated<U, Open, P> => event.type === names.updated
  const isDeleted = (event: E): event is OwnedDeleted<D> => event.type === names.deleted
  const noFields = { ...initial, ...personal }
  const requireFree = (fields: Open, before: Open) => {
    if (claim?.chosen) refuseReserved(claim.chosen, String(fields[claim.chosen]), String(before[claim.chosen]))
  }
  const withToken = (token: string | undefined) => (claim && token !== undefined ? { token } : {})
  const claimed = (tokens: Tokens, token: string | undefined) =>
    claim && token !== undefined ? acquire(tokens, claim.kind, token) : tokens

  return {
    kind,
    version,
    id: ({ id }) => id,
    initialState: { status: 'none', account: 0, fields: noFields, tokens: noTokens },
    decide: (command, state) => {
      const { id, account } = command
      switch (command.type) {
        case 'Create': {
          const { fields, token } = command
          requireFree(fields, initial)
          if (state.status === 'none' && state.tokens.fenced.length === 0)
            return [{ type: names.created, data: { id, account, ...fields, ...withToken(token) } }]
          return state.account === account && same(state.fields, fields) ? [] : refuse('invalid', 'This id is in use.')
        }
        case 'Update': {
          const { fields, tokens } = mine(state, account, label)
          const changes = differing(command.changes, fields)
          if (Object.keys(changes).length === 0) return []
          requireFree({ ...fields, ...changes }, fields)
          const renamed = claim && claim.name({ ...fields, ...changes }) !== claim.name(fields)
          if (renamed && tokens.fenced.includes(command.token ?? '')) return refuseTaken(claim.kind)
          const token = renamed ? withToken(command.token) : {}
          const open = pickLike<Open>(initial, changes)
          return [{ type: names.updated, data: { id, changes: open, ...pickLike<P>(personal, changes), ...token } }]
        }
        case 'Delete':
          mine(state, account, label)
          return [{ type: names.deleted, data: { id } }]
      }
    },
    evolve: (state, event) => {
      if (isCreated(event)) {
        const { account, token } = event.data
        const fields = pickLike<Open & P>(noFields, event.data)
        return { status: 'open', account, fields, tokens: claimed(state.tokens, token) }
      }
      if (isUpdated(event)) {
        const { id: _, changes, token, ...sealed } = event.data
        const fields = { ...state.fields, ...defined(changes), ...defined(sealed) }
        return { ...state, fields, tokens: claimed(state.tokens, token) }
      }
      if (isDeleted(event))
        return { ...state, status: 'deleted', tokens: claim ? release(state.tokens, claim.kind) : state.tokens }
      return { ...state, tokens: fence(state.tokens, event.data.token) }
    },
    claims: (command, [event]) => {
      const token = event && (isCreated(event) || isUpdated(event)) ? event.data.token : undefined
      if (!claim || token === undefined || command.type === 'Delete') return []
      // an update with a token changes the unique name, so the fields of the name are among the changes
      const fields = command.type === 'Create' ? command.fields : { ...noFields, ...command.changes }
      return [{ kind: claim.kind, name: claim.name(fields), token }]
    },
  }
}
