import { createRequire } from 'node:module'
import type * as client from '@eventstore/db-client'

const require = createRequire(import.meta.url)

/**
 * Returns the client of EventStoreDB. It is loaded at the first call: a sixth of all that a start would load, and most
 * services do not use it.
 */
export const library = () => require('@eventstore/db-client') as typeof client
