import { z } from 'zod'

/** What an API key may be allowed. `write` includes `links:write`, `read` includes `stats:read`. */
export const Scope = z.enum(['read', 'write', 'links:write', 'stats:read', 'account'])
export type Scope = z.output<typeof Scope>
export const allScopes = Scope.options
