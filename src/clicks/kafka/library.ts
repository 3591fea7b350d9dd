import { createRequire } from 'node:module'
import type * as kafkajs from 'kafkajs'

const require = createRequire(import.meta.url)

/**
 * Returns kafkajs. It is loaded at the first call: a tenth of all that a start would load, and most services have no
 * brokers.
 */
export const library = () => require('kafkajs') as typeof kafkajs
