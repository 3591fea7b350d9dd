import type { DomainEvent } from '../events/index.ts'
import type { Decider } from './decider.ts'
import type { Handled } from './handle.ts'
import type { Load } from './load.ts'
import { mine } from './owned.ts'

/** The account on whose behalf a use case works, and its access to the log. */
export interface Caller {
  readonly account: number
  readonly load: Load
  /** Handles a command as this account. Throws `Refused`. */
  readonly write: <C, S, E extends DomainEvent>(decider: Decider<C, S, E>, command: C) => Promise<Handled<S, E>>
}

/** Returns the resource's state, id and date. Throws `Refused` (`not_found`) unless it exists and belongs to the account. */
export const requireOwn = async <
  C,
  S extends { readonly status: string; readonly account: number },
  E extends DomainEvent,
>(
  { account, load }: Pick<Caller, 'account' | 'load'>,
  decider: Decider<C, S, E>,
  label: string,
  id: number,
) => {
  const { state, since } = await load(decider, id)
  return { ...mine(state, account, label), id, created: new Date(since) }
}
