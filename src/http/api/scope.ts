import type { Open } from '../../events/openenum.ts'
import { allows, Scope, wideningOf } from '../../events/accounts/scope.ts'

/**
 * A right that a route may need: a scope of a key; `operator`, which only sessions of an account have that the command
 * line has marked; or `audit`, which the sessions of auditors have.
 */
export type Right = Scope | 'operator' | 'audit'
/** The rights that a route needs; any one of several is enough. Every key may call a route with none. */
export type Needed = Right | readonly Right[]

/** The rights of a caller. A key is never an operator, even if the log has a scope of that name. */
export interface Rights {
  readonly scopes: readonly Open<Scope>[]
  readonly operator?: boolean
  readonly audit?: boolean
}

/** Returns the scopes that open a route, the narrowest first. A key has no `audit`. */
export const openedBy = (needed: Needed): readonly string[] =>
  [needed]
    .flat()
    .filter((right) => right !== 'audit')
    .flatMap(wideningOf)

/** Whether a caller with these rights may call a route. */
export const mayCall = ({ scopes, operator = false, audit = false }: Rights, needed: Needed): boolean => {
  const alternatives = [needed].flat()
  return (
    alternatives.length === 0 ||
    alternatives.some((right) => (right === 'operator' ? operator : right === 'audit' ? audit : allows(scopes, right)))
  )
}

/** Returns the rights of a caller, in a fixed order; undefined for one with all rights of a key. */
export const limitedRights = (rights: Rights): readonly Scope[] | undefined => {
  const allowed = Scope.options.filter((scope) => mayCall(rights, scope))
  return allowed.length < Scope.options.length ? allowed : undefined
}

/** Returns the scopes that open a route, for a sentence: "`links:write` or `write`". */
export const namesOf = (needed: Needed): string =>
  openedBy(needed)
    .map((scope) => `\`${scope}\``)
    .join(' or ')
