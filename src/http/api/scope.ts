import type { Open } from '../../events/openenum.ts'
import { allows, type Scope, wideningOf } from '../../events/accounts/scope.ts'

/**
 * What a route may need: a scope of a key, or `operator`, which only sessions of an account have that the command line
 * has marked.
 */
export type Right = Scope | 'operator'
/** What a route needs; with several, any of them is enough. Every key may call a route with none. */
export type Needed = Right | readonly Right[]

/** What a caller is allowed. A key is never an operator, even if the log says that it has a scope of that name. */
export interface Rights {
  readonly scopes: readonly Open<Scope>[]
  readonly operator?: boolean
}

/** Returns the scopes that open a route, the narrowest first. */
export const openedBy = (needed: Needed): readonly string[] => [needed].flat().flatMap(wideningOf)

/** Whether a caller with these rights may call a route. */
export const mayCall = ({ scopes, operator = false }: Rights, needed: Needed): boolean => {
  const alternatives = [needed].flat()
  return (
    alternatives.length === 0 || alternatives.some((right) => (right === 'operator' ? operator : allows(scopes, right)))
  )
}

/** Returns the scopes that open a route, as a sentence has them: "`links:write` or `write`". */
export const namesOf = (needed: Needed): string =>
  openedBy(needed)
    .map((scope) => `\`${scope}\``)
    .join(' or ')
