import type { DomainEvent } from '../events/index.ts'
import type { StreamKind } from '../events/streams.ts'
import { ChangedByNewer } from '../events/unknown.ts'
import { type Decider, refuseUnknown } from './decider.ts'
import type { Handled } from './context.ts'
import { countRevision, type Load, type Loaded } from './load.ts'
import { requireOwned } from './owned/owned.ts'

/** The account on whose behalf a use case works, and its access to the log. */
export interface Caller {
  readonly account: number
  readonly load: Load
  /** Handles a command as this account. Throws `Refused`. */
  readonly write: <C, S, E extends DomainEvent>(decider: Decider<C, S, E>, command: C) => Promise<Handled<S, E>>
}

/**
 * Rethrows the error of a load, but `Refused` (`not_found`) for a resource of another account that a newer release has
 * changed.
 */
export const hideForeign =
  <S extends { readonly status: string; readonly account: number }>(account: number, kind: StreamKind) =>
  (error: unknown): never => {
    if (error instanceof ChangedByNewer) {
      const { state } = error.known as Loaded<S>
      if (state.status !== 'none' && state.account !== account) return refuseUnknown(kind)
    }
    throw error
  }

/**
 * Returns the resource's state, id, date and revision. Throws `Refused` (`not_found`) unless it exists and belongs to
 * the account.
 */
export const requireOwn = async <
  C,
  S extends { readonly status: string; readonly account: number },
  E extends DomainEvent,
>(
  { account, load }: Pick<Caller, 'account' | 'load'>,
  decider: Decider<C, S, E>,
  id: number,
) => {
  const { state, since, revision } = await load(decider, id).catch(hideForeign(account, decider.kind))
  return {
    ...requireOwned(state, account, decider.kind),
    id,
    created: new Date(since),
    revision: countRevision(revision),
  }
}
