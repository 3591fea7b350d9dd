import type { Event } from '../events/index.ts'
import type { OwnedEvent } from '../events/owned.ts'
import type { StreamKind } from '../events/streams.ts'
import { type ClaimKind, fence, hold, noTokens, release, type Tokens } from './claim.ts'
import { type Decider, refuse } from './decider.ts'

/** A resource of an account: what is true of all of them. */
export interface Owned<F> {
  readonly status: 'none' | 'open' | 'deleted'
  readonly account: number
  readonly fields: F
  readonly tokens: Tokens
}

/** `token` is for the claim, should the resource have a unique name. */
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

export interface OwnedOptions<F> {
  /** what it is called to a client, as in `Pixel not found.` */
  readonly label: string
  readonly initial: F
  /** its unique name, if it has one */
  readonly claim?: { readonly kind: ClaimKind; readonly name: (fields: F) => string }
  /** fields that stand sealed in its events */
  readonly personal?: readonly (keyof F)[]
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
/** The changes that change anything. */
export const differing = <F extends object>(changes: Partial<F>, fields: F): Partial<F> =>
  Object.fromEntries(
    Object.entries(changes).filter(([name, value]) => value !== undefined && !same(value, fields[name as keyof F])),
  ) as Partial<F>

/** The resource, if it lives and is this account's; whose else it is, nobody learns. */
export const mine = <S extends { readonly status: string; readonly account: number }>(
  state: S,
  account: number,
  label: string,
): S => (state.status === 'open' && state.account === account ? state : refuse('not_found', `${label} not found.`))

/** Decides on a resource that an account makes, changes and deletes, and that has no rules of its own beyond that. */
export const owned = <N extends string, Open extends object, P extends object = object>(
  noun: N,
  { label, initial, claim, personal = [] }: OwnedOptions<Open & P>,
): Decider<OwnedCommand<Open & P>, Owned<Open & P>, OwnedEvent<N, Open, P> | Event<'ClaimFenced'>> => {
  type F = Open & P
  type E = OwnedEvent<N, Open, P>
  // the noun is a type parameter, so that tsc cannot follow it into the names of the events: these three lines are the only casts
  const created = (data: object) => ({ type: `${noun}Created`, data }) as E
  const updated = (data: object) => ({ type: `${noun}Updated`, data }) as E
  const deleted = (id: number) => ({ type: `${noun}Deleted`, data: { id } }) as E
  const carrying = (token: string | undefined) => (claim && token !== undefined ? { token } : {})
  const apart = (changes: Partial<F>) => {
    const of = (sealed: boolean) =>
      Object.fromEntries(Object.entries(changes).filter(([name]) => personal.includes(name as keyof F) === sealed))
    return { changes: of(false), ...of(true) }
  }

  return {
    kind: noun.toLowerCase() as StreamKind,
    id: ({ id }) => id,
    initialState: { status: 'none', account: 0, fields: initial, tokens: noTokens },
    decide: (command, state) => {
      const { id, account } = command
      switch (command.type) {
        case 'Create':
          if (state.status === 'none' && state.tokens.fenced.length === 0)
            return [created({ id, account, ...command.fields, ...carrying(command.token) })]
          return state.account === account && same(state.fields, command.fields)
            ? []
            : refuse('invalid', 'This id is in use.')
        case 'Update': {
          const { fields, tokens } = mine(state, account, label)
          const changes = differing(command.changes, fields)
          if (Object.keys(changes).length === 0) return []
          const renamed = claim && claim.name({ ...fields, ...changes }) !== claim.name(fields)
          if (renamed && tokens.fenced.includes(command.token ?? ''))
            return refuse('taken', `This ${claim.kind} is taken: choose another.`, claim.kind)
          return [updated({ id, ...apart(changes), ...(renamed ? carrying(command.token) : {}) })]
        }
        case 'Delete':
          mine(state, account, label)
          return [deleted(id)]
      }
    },
    evolve: (state, event) => {
      if (event.type === 'ClaimFenced') {
        const { token } = (event as Event<'ClaimFenced'>).data
        return { ...state, tokens: fence(state.tokens, token) }
      }
      const {
        token,
        changes,
        id: _,
        account = state.account,
        ...fields
      } = event.data as {
        id: number
        account?: number
        token?: string
        changes?: Partial<F>
      }
      const tokens = claim && token !== undefined ? hold(state.tokens, claim.kind, token) : state.tokens
      switch (event.type) {
        case `${noun}Created`:
          return { status: 'open', account, fields: fields as F, tokens }
        case `${noun}Updated`:
          return { ...state, fields: { ...state.fields, ...changes, ...fields }, tokens }
        case `${noun}Deleted`:
          return { ...state, status: 'deleted', tokens: claim ? release(tokens, claim.kind) : tokens }
        default:
          return state
      }
    },
    claims: (command, events) => {
      const token = (events[0]?.data as { token?: string } | undefined)?.token
      if (!claim || token === undefined || command.type === 'Delete') return []
      // an update that carries a token changes the name, so the name's field is among the changes
      const fields = command.type === 'Create' ? command.fields : { ...initial, ...command.changes }
      return [{ kind: claim.kind, name: claim.name(fields), token }]
    },
  }
}
