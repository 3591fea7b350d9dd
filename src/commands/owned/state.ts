import type { Event } from '../../events/index.ts'
import type { OwnedCreated, OwnedDeleted, OwnedEvent, OwnedRestored, OwnedUpdated } from '../../events/owned.ts'
import { defined } from '../../lib/defined.ts'
import { acquire, type ClaimKind, fence, release, type Tokens } from '../claims/claim.ts'

/** The state of a resource that an account owns. */
export interface Owned<F> {
  readonly status: 'none' | 'open' | 'deleted'
  readonly account: number
  readonly fields: F
  readonly tokens: Tokens
}

/** The types of a resource's events. */
export interface OwnedNames<C, U, D, R> {
  readonly created: C
  readonly updated: U
  readonly deleted: D
  readonly restored: R
}

interface PickLike {
  <T extends object>(template: T, from: T): T
  <T extends object>(template: T, from: Partial<T>): Partial<T>
}
/** Returns the entries whose keys the template has. */
export const pickLike: PickLike = <T extends object>(template: T, from: Partial<T>) =>
  Object.fromEntries(Object.entries(from).filter(([name]) => Object.hasOwn(template, name))) as T

/** An event of such a resource, or a fence of its claim. */
export type EventIn<C extends string, U extends string, D extends string, R extends string, Open, P> =
  OwnedEvent<C, U, D, R, Open, P> | Event<'ClaimFenced'>

/** Returns type guards for the events of a resource. */
export const guardsOf = <C extends string, U extends string, D extends string, R extends string, Open, P>(
  names: OwnedNames<C, U, D, R>,
) => {
  type E = EventIn<C, U, D, R, Open, P>
  const isCreated = (event: E): event is OwnedCreated<C, Open & P> => event.type === names.created
  const isUpdated = (event: E): event is OwnedUpdated<U, Open, P> => event.type === names.updated
  const isDeleted = (event: E): event is OwnedDeleted<D> => event.type === names.deleted
  const isRestored = (event: E): event is OwnedRestored<R, Open, P> => event.type === names.restored
  return { isCreated, isUpdated, isDeleted, isRestored }
}

/** Returns how events change the state. */
export const evolution = <
  C extends string,
  U extends string,
  D extends string,
  R extends string,
  Open extends object,
  P extends object,
>(
  { isCreated, isUpdated, isDeleted, isRestored }: ReturnType<typeof guardsOf<C, U, D, R, Open, P>>,
  noFields: Open & P,
  claim: ClaimKind | undefined,
) => {
  const claimed = (tokens: Tokens, token: string | undefined) =>
    claim && token !== undefined ? acquire(tokens, claim, token) : tokens
  return (state: Owned<Open & P>, event: EventIn<C, U, D, R, Open, P>): Owned<Open & P> => {
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
      return { ...state, status: 'deleted', tokens: claim ? release(state.tokens, claim) : state.tokens }
    if (isRestored(event)) {
      const { id: _, to: _t, deleted: _d, changes, token, ...sealed } = event.data
      const fields = { ...state.fields, ...defined(changes), ...defined(sealed) }
      return { ...state, status: 'open', fields, tokens: claimed(state.tokens, token) }
    }
    return { ...state, tokens: fence(state.tokens, event.data.token) }
  }
}
