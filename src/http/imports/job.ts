import { setTimeout as sleep } from 'node:timers/promises'
import type { Domains } from '../../cache/domains.ts'
import type { Actor } from '../../events/event.ts'
import type { OnConflict, PlacedVisit, VisitRefusal } from '../../imports/importing.ts'
import { isUnavailable } from '../../lib/unavailable.ts'
import type { ImportFiles, StoredImport } from '../../queries/imports/import.ts'
import type { Call } from '../api/route.ts'
import type { BulkServices } from '../links/bulk/request.ts'
import type { ImportFolder } from './file.ts'

/** How a file is imported. */
export interface ImportOptions {
  readonly conflict: OnConflict
  readonly timezone: string
  /** the domain here for each host there; '': for others, and addresses without a host */
  readonly domains: Readonly<Record<string, string>>
  /** the header of each field that the table names in another way */
  readonly columns: Readonly<Record<string, string>>
  /** whether to delete links that were changed or visited since, when it is taken back */
  readonly force?: boolean
}
export type Stored = StoredImport<ImportOptions>

export interface ImportServices extends BulkServices {
  readonly domains: Domains
  readonly imports: ImportFolder & {
    readonly files: ImportFiles<ImportOptions>
    /** Waits a short time until the read tables have all changes up to now. */
    readonly caughtUp: () => Promise<unknown>
    /** Records single visits of other services, and takes them back: see `src/clicks/elsewhere.ts`. */
    readonly visits: {
      readonly recordVisits: (
        of: { readonly import: string; readonly account: number },
        visits: readonly PlacedVisit[],
        upTo: number,
        pace: (position: bigint) => Promise<unknown>,
      ) => Promise<{ readonly refused: readonly { readonly why: VisitRefusal }[] }>
      /** Returns the position of the newest event with visits, imported or followed here. */
      readonly newest: () => Promise<bigint>
      readonly withdrawVisits: (id: string, actor: Actor) => Promise<bigint | undefined>
    }
    /** Works in the background until the service ends. Failures that are not expected are logged. */
    readonly work: (job: (signal: AbortSignal) => Promise<void>) => void
  }
}

/** What goes on after the answer of a request, as its caller. */
type Background = ReturnType<Call['later']>

/** Work on a file in the background. */
export interface Job {
  readonly call: Background
  readonly services: ImportServices
  readonly stored: Stored
  readonly signal: AbortSignal
}

/** s until an outage is looked at again */
const pause = 5

/** Waits out outages of stores. */
export const patiently =
  (signal: AbortSignal) =>
  async <T>(work: () => Promise<T>): Promise<T> => {
    for (;;)
      try {
        return await work()
      } catch (error) {
        if (!isUnavailable(error)) throw error
        await sleep(pause * 1000, undefined, { signal })
      }
  }
