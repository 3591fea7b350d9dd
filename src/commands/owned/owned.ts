import type { StreamKind } from '../../events/streams.ts'
import { refuseReserved } from '../links/alias.ts'
import { type ClaimKind, noTokens } from '../claims/claim.ts'
import { type Decider, refuse, refuseUnknown } from '../decider.ts'
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
  /** what clients call the resource, as in `Pixel not found.` */
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

type Restore<F> = Extract<OwnedCommand<F>, { readonly type: 'Restore' }>

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

interface RestoreOptions<F> {
  readonly kind: StreamKind
  readonly initial: F
  readonly personal: object
  readonly claim: { readonly kind: ClaimKind; readonly name: (fields: F) => string } | undefined
}

/** Returns what a restore changes, and the kind of the unique name that has to be claimed for it. Throws `Refused`. */
const restored = <F extends object>(
  { account, to }: Restore<F>,
  state: Owned<F>,
  { kind, initial, personal, claim }: RestoreOptions<F>,
) => {
  const { status, fields } = requireOwnedOrDeleted(state, account, kind)
  const deleted = status === 'deleted'
  const changes = to ? changesTo<F>(to.fields, fields, initial, personal) : {}
  const renamed = claim && claim.name({ ...fields, ...changes }) !== claim.name(fields)
  return { changes, deleted, renames: deleted || renamed ? claim?.kind : undefined }
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
  { kind, version, initial, personal = {} as P, claim }: OwnedOptions<Open, P>,
): Decider<OwnedCommand<Open & P>, Owned<Open & P>, EventIn<C, U, D, R, Open, P>> => {
  type E = EventIn<C, U, D, R, Open, P>
  const guards = guardsOf<C, U, D, R, Open, P>(names)
  const { isCreated, isUpdated, isRestored } = guards
  const noFields = { ...initial, ...personal }
  const requireFree = (fields: Open, before: Open) => {
    if (claim?.chosen) refuseReserved(claim.chosen, String(fields[claim.chosen]), String(before[claim.chosen]))
  }
  const withToken = (token: string | undefined) => (claim && token !== undefined ? { token } : {})
  const restoring = (command: Restore<Open & P>, state: Owned<Open & P>): readonly E[] => {
    const { tokens } = state
    const { changes, deleted, renames } = restored(command, state, { kind, initial: noFields, personal, claim })
    if (!deleted && Object.keys(changes).length === 0) return []
    requireFree({ ...state.fields, ...changes }, state.fields)
    if (renames && tokens.fenced.includes(command.token ?? '')) return refuseTaken(renames, claim?.chosen)
    const marks = {
      ...(command.to && { to: command.to.revision }),
      ...(deleted && { deleted }),
      ...(renames ? withToken(command.token) : {}),
    }
    const open = pickLike<Open>(initial, changes)
    return [
      { type: names.restored, data: { id: command.id, ...marks, changes: open, ...pickLike<P>(personal, changes) } },
    ]
  }

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
          return state.account === account && same(state.fields, fields) ? [] : refuse('id_in_use')
        }
        case 'Update': {
          const { fields, tokens } = requireOwned(state, account, kind)
          const changes = differing(command.changes, fields)
          if (Object.keys(changes).length === 0) return []
          requireFree({ ...fields, ...changes }, fields)
          const renamed = claim && claim.name({ ...fields, ...changes }) !== claim.name(fields)
          if (renamed && tokens.fenced.includes(command.token ?? '')) return refuseTaken(claim.kind, claim.chosen)
          const token = renamed ? withToken(command.token) : {}
          const open = pickLike<Open>(initial, changes)
          return [{ type: names.updated, data: { id, changes: open, ...pickLike<P>(personal, changes), ...token } }]
        }
        case 'Delete':
          requireOwned(state, account, kind)
          return [{ type: names.deleted, data: { id } }]
        case 'Restore':
          return restoring(command, state)
      }
    },
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
