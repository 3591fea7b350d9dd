import type { Past } from '../http/api/past/past.ts'
import type { Misses } from '../lib/misses.ts'
import { openKeyUses } from '../postgres/keyuses.ts'
import { openMisses } from '../postgres/misses.ts'
import { sparing } from '../http/api/limits/limiter.ts'
import { limiter } from '../postgres/ratelimits.ts'
import { type JobsOptions, startJobs } from './jobs.ts'
import { repeat } from './jobs/repeat.ts'
import type { Ledger } from './log/ledger.ts'
import { openReads } from './site/readpools.ts'

/** What a site does besides answering requests. */
export interface Effects {
  readonly startJobs: (options: JobsOptions) => ReturnType<typeof startJobs>
  /** what answers of the API are read from */
  readonly past: Past
  /** Repeats work that deletes what has expired. */
  readonly repeat: typeof repeat
  readonly limiter: ReturnType<typeof limiter>
  /** Notes the use of an API key. */
  readonly recordUse: (key: string) => void
  /** counts addresses that lead nowhere */
  readonly misses: Misses
  /** the clock of links and statistics, in ms since 1970 */
  readonly now: () => number
}

export const effectsOf = (ledger: Ledger): Effects => {
  const counts = limiter(ledger.db, ledger.keys.service)
  return {
    startJobs,
    past: openReads(ledger),
    repeat,
    limiter: { ...counts, ...sparing(counts) },
    recordUse: openKeyUses(ledger.db),
    misses: openMisses(ledger.db, Date.now),
    now: () => Date.now(),
  }
}
