import type { Open } from '../../events/openenum.ts'
import type { Scope } from '../../events/scope.ts'

/** The scope that a route needs; with several, any of them is enough. Every key may call a route with none. */
export type Needed = Scope | readonly Scope[]

/** Scopes that include others. */
const wider: Readonly<Partial<Record<Scope, Scope>>> = { 'links:write': 'write', 'stats:read': 'read' }

/** Returns the scopes that open a route, the narrowest first. */
export const openedBy = (needed: Needed): readonly Scope[] =>
  [needed].flat().flatMap((scope) => [scope, ...(wider[scope] === undefined ? [] : [wider[scope]])])

/** Whether a key with these scopes may call a route. */
export const mayCall = (scopes: readonly Open<Scope>[], needed: Needed): boolean => {
  const opening = openedBy(needed)
  return opening.length === 0 || opening.some((scope) => scopes.includes(scope))
}

/** Returns the scopes that open a route, as a sentence has them: "`links:write` or `write`". */
export const namesOf = (needed: Needed): string =>
  openedBy(needed)
    .map((scope) => `\`${scope}\``)
    .join(' or ')
