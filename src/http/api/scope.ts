import type { Open } from '../../events/openenum.ts'
import { allows, type Scope, wideningOf } from '../../events/scope.ts'

/** The scope that a route needs; with several, any of them is enough. Every key may call a route with none. */
export type Needed = Scope | readonly Scope[]

/** Returns the scopes that open a route, the narrowest first. */
export const openedBy = (needed: Needed): readonly string[] => [needed].flat().flatMap(wideningOf)

/** Whether a key with these scopes may call a route. */
export const mayCall = (scopes: readonly Open<Scope>[], needed: Needed): boolean => {
  const alternatives = [needed].flat()
  return alternatives.length === 0 || alternatives.some((scope) => allows(scopes, scope))
}

/** Returns the scopes that open a route, as a sentence has them: "`links:write` or `write`". */
export const namesOf = (needed: Needed): string =>
  openedBy(needed)
    .map((scope) => `\`${scope}\``)
    .join(' or ')
