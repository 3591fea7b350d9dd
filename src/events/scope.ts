import { z } from 'zod'
import type { Open } from './openenum.ts'

/** What an API key may be allowed. `write` includes `links:write`, `read` includes `stats:read`. */
export const Scope = z.enum(['read', 'write', 'links:write', 'stats:read', 'account'])
export type Scope = z.output<typeof Scope>
export const allScopes = Scope.options

/** Scopes that another one includes. */
const includedIn: Readonly<Partial<Record<string, Scope>>> = { 'links:write': 'write', 'stats:read': 'read' }

/** Returns the scopes that allow what one scope allows, the narrowest first. */
export const wideningOf = (scope: Open<Scope>): readonly Open<Scope>[] => {
  const wider = includedIn[scope]
  return wider === undefined ? [scope] : [scope, wider]
}

/** Whether some scopes allow what one scope allows. */
export const allows = (scopes: readonly Open<Scope>[], scope: Open<Scope>): boolean =>
  wideningOf(scope).some((one) => scopes.includes(one))
