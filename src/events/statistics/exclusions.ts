import { z } from 'zod'

/** The visits that an account does not count as clicks. A visit that any of them names is excluded. */
export const Exclusions = z.object({
  /** parts of user agents, in lower case */
  agents: z.array(z.string()),
  /** ISO 3166-1 alpha-2 */
  countries: z.array(z.string()),
  /** of the day in UTC: 0 to 23 */
  hours: z.array(z.int()),
  /** hashes, as clicks have them */
  visitors: z.array(z.string()),
})
export type Exclusions = z.infer<typeof Exclusions>
export const noExclusions: Exclusions = { agents: [], countries: [], hours: [], visitors: [] }
