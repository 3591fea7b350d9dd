import type { StreamKind } from '../../events/streams.ts'
import { refuseReserved } from '../links/alias.ts'
import { type ClaimKind, noTokens } from '../claims/claim.ts'
import { type CommandOf, decideBy, type Decider, refuse, refuseUnknown } from '../decider.ts'
import { evolution, type EventIn, guardsOf, type Owned, type OwnedNames, pickLike } from './state.ts'
import { refuseTaken } from '../claims/taken.ts'

export type { Owned, OwnedNames } from './state.ts'

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
  | {
      readonly type: 'Restore'
      readonly id: number
      readonly account: number
      /** what it was; undefined: a deleted one comes back with its last values */
      readonly to?: Former<F> | undefined
      readonly token?: string
    }

/** The fields that a resource had after one of its revisions. */
export interface Former<F> {
  readonly revision: number
  readonly fields: F
}

export interface OwnedOptions<Open, P> {
  readonly kind: StreamKind
  /** see `Decider`; also goes up when `owned` itself folds differently */
  readonly version: number
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

/**
 * Returns the state if the resource exists and belongs to the account; else throws `not_found`, so that existence is
 * not disclosed.
 */
export const requireOwned = <S extends { readonly status: string; readonly account: number }>(
  state: S,
  account: number,
  kind: StreamKind,
): S => (state.status === 'open' && state.account === account ? state : refuseUnknown(kind))

/** Like `requireOwned`, also for a resource that is deleted. */
export const requireOwnedOrDeleted = <S extends { readonly status: string; readonly account: number }>(
  state: S,
  account: number,
  kind: StreamKind,
): S =>
  (state.status === 'open' || state.status === 'deleted') && state.account === account ? state : refuseUnknown(kind)

type Command<T, Open, P> = CommandOf<OwnedCommand<Open & P>, T>
/** What kinds of owned resources differ in. */
type Rules<Open, P> = Omit<OwnedOptions<Open, P>, 'personal'> & { readonly personal: P }
type Claiming<Open, P> = Pick<Rules<Open, P>, 'claim'>

const refuseReservedName = <Open extends object, P>({ claim }: Claiming<Open, P>, fields: Open, before: Open) => {
  if (claim?.chosen) refuseReserved(claim.chosen, String(fields[claim.chosen]), String(before[claim.chosen]))
}

const isRenamed = <Open, P>({ claim }: Claiming<Open, P>, fields: Open, before: Open) =>
  claim !== undefined && claim.name(fields) !== claim.name(before)

/** Returns the token of an event that claims a unique name. Throws `Refused` when it was taken over. */
const claiming = <Open, P>({ claim }: Claiming<Open, P>, token: string | undefined, fenced: readonly string[]) => {
  if (claim && fenced.includes(token ?? '')) return refuseTaken(claim.kind, claim.chosen)
  return claim && token !== undefined ? { token } : {}
}

/** Returns changes as an event has them: those that are sealed beside the others. */
const changed = <Open extends object, P extends object>(
  { initial, personal }: Rules<Open, P>,
  changes: Partial<Open & P>,
) => ({ changes: pickLike<Open>(initial, changes), ...pickLike<P>(personal, changes) })

/** Returns what is created; undefined when it is there already. */
const create = <Open extends object, P extends object>(
  rules: Rules<Open, P>,
  { id, account, fields, token }: Command<'Create', Open, P>,
  state: Owned<Open & P>,
) => {
  refuseReservedName<Open, P>(rules, fields, rules.initial)
  const { fenced } = state.tokens
  if (state.status === 'none' && fenced.length === 0) return { id, account, ...fields, ...claiming(rules, token, []) }
  return state.account === account && same(state.fields, fields) ? undefined : refuse('id_in_use')
}

/** Returns what is updated; undefined when nothing is. */
const update = <Open extends object, P extends object>(
  rules: Rules<Open, P>,
  { id, account, changes: wanted, token }: Command<'Update', Open, P>,
  state: Owned<Open & P>,
) => {
  const { fields, tokens } = requireOwned(state, account, rules.kind)
  const changes = differing(wanted, fields)
  if (Object.keys(changes).length === 0) return undefined
  const after = { ...fields, ...changes }
  refuseReservedName<Open, P>(rules, after, fields)
  const claim = isRenamed<Open, P>(rules, after, fields) ? claiming(rules, token, tokens.fenced) : {}
  return { id, ...changed(rules, changes), ...claim }
}

/**
 * Returns the changes from fields to former ones. A field that the former ones do not have gets its initial value; a
 * sealed one that cannot be read stays.
 */
const changesTo = <F extends object>(former: F, fields: F, initial: F, personal: object): Partial<F> => {
  const wanted = Object.entries(initial).flatMap(([name, first]) => {
    const value = former[name as keyof F]
    if (value === null && Object.hasOwn(personal, name)) return []
    return [[name, value ?? (first as unknown) ?? null]]
  })
  return differing(Object.fromEntries(wanted) as Partial<F>, fields)
}

/** Returns what is restored; undefined when nothing is. */
const restore = <Open extends object, P extends object>(
  rules: Rules<Open, P>,
  { id, account, to, token }: Command<'Restore', Open, P>,
  state: Owned<Open & P>,
) => {
  const { initial, personal, kind } = rules
  const { status, fields, tokens } = requireOwnedOrDeleted(state, account, kind)
  const deleted = status === 'deleted'
  const changes = to ? changesTo<Open & P>(to.fields, fields, { ...initial, ...personal }, personal) : {}
  if (!deleted && Object.keys(changes).length === 0) return undefined
  const after = { ...fields, ...changes }
  refuseReservedName<Open, P>(rules, after, fields)
  const claims = deleted || isRenamed<Open, P>(rules, after, fields)
  return {
    id,
    ...(to && { to: to.revision }),
    ...(deleted && { deleted }),
    ...(claims ? claiming(rules, token, tokens.fenced) : {}),
    ...changed(rules, changes),
  }
}

/**
 * Returns the decider of a resource that an account creates, updates, deletes and restores, and that has no rules
 * beyond that.
 */
export const owned = <
  C extends string,
  U extends string,
  D extends string,
  R extends string,
  Open extends object,
  P extends object = Record<never, never>,
>(
  names: OwnedNames<C, U, D, R>,
  { personal = {} as P, ...options }: OwnedOptions<Open, P>,
): Decider<OwnedCommand<Open & P>, Owned<Open & P>, EventIn<C, U, D, R, Open, P>> => {
  const rules = { ...options, personal }
  const { kind, version, initial, claim } = options
  const guards = guardsOf<C, U, D, R, Open, P>(names)
  const { isCreated, isUpdated, isRestored } = guards
  const noFields = { ...initial, ...personal }

  return {
    kind,
    version,
    id: ({ id }) => id,
    initialState: { status: 'none', account: 0, fields: noFields, tokens: noTokens },
    decide: decideBy<OwnedCommand<Open & P>, Owned<Open & P>, EventIn<C, U, D, R, Open, P>>({
      Create: (command, state) => {
        const data = create(rules, command, state)
        return data ? [{ type: names.created, data }] : []
      },
      Update: (command, state) => {
        const data = update(rules, command, state)
        return data ? [{ type: names.updated, data }] : []
      },
      Delete: ({ id, account }, state) => {
        requireOwned(state, account, kind)
        return [{ type: names.deleted, data: { id } }]
      },
      Restore: (command, state) => {
        const data = restore(rules, command, state)
        return data ? [{ type: names.restored, data }] : []
      },
    }),
    evolve: evolution(guards, noFields, claim?.kind),
    claims: (_, [event], state) => {
      if (!claim || !event || !(isCreated(event) || isUpdated(event) || isRestored(event))) return []
      const { token } = event.data
      if (token === undefined) return []
      const fields = isCreated(event) ? event.data : { ...state.fields, ...event.data.changes }
      return [{ kind: claim.kind, name: claim.name(fields as Open), token }]
    },
  }
}
