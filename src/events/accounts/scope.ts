import { z } from 'zod'
import type { Open } from '../openenum.ts'

/**
 * What an API key may be allowed. `write` includes `links:write`, `read` includes `stats:read`, and `account` includes
 * `webhooks`: a webhook sends everything that happens in an account to another place.
 */
export const Scope = z.enum(['read', 'write', 'links:write', 'stats:read', 'account', 'webhooks'])
export type Scope = z.output<typeof Scope>
/** The scopes of a key that may do everything, as keys without scopes of their own have had them from the beginning. */
export const allScopes = ['read', 'write', 'links:write', 'stats:read', 'account'] as const satisfies readonly Scope[]

/** Scopes that another one includes. */
const includedIn: Readonly<Partial<Record<string, Scope>>> = {
  'links:write': 'write',
  'stats:read': 'read',
  webhooks: 'account',
}

/** Returns the scopes that allow what one scope allows, the narrowest first. */
export const wideningOf = (scope: Open<Scope>): readonly Open<Scope>[] => {
  const wider = includedIn[scope]
  return wider === undefined ? [scope] : [scope, wider]
}

/** Whether some scopes allow what one scope allows. */
export const allows = (scopes: readonly Open<Scope>[], scope: Open<Scope>): boolean =>
  wideningOf(scope).some((one) => scopes.includes(one))
