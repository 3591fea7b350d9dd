import type { Visit } from '../../../src/clicks/visit.ts'
import { visit as visitTo } from '../../support/spool.ts'

export const route = { log: 'local', partitions: 4 }

/**
 * Returns visit number `n`. `revision` holds the number, which the spool ignores, and link `n` determines the
 * partition.
 */
export const visit = (n: number): Visit => ({
  ...visitTo(n, { revision: n, destination: 'https://example.com/ü', agent: 'Mozilla/5.0', languages: 'en' }),
  at: new Date(Date.UTC(2026, 0, 1) + n).toISOString(),
})

/** Whose visit a writer's visit number `n` is. */
export const accountOf = (n: number): number => 1 + (n % 3)
