import { isCancelled, NotReady } from '../../lib/unavailable.ts'
import type { Reader } from '../../queries/reader.ts'
import { buildSearchIndex } from '../../queries/links/searchindex.ts'
import { repeat, unwatched, type Watching } from './repeat.ts'

/** ms between two looks at the live tables: a rebuild replaces them */
const interval = 30_000

export interface SearchIndexOptions {
  /** with a pool of one connection, whose statements have no time limit */
  readonly reader: Reader
  readonly onBuilt: (ms: number) => void
  readonly onProblem: (error: unknown) => void
  readonly watching?: Watching
}

/**
 * Keeps an index for `q` on the links. Without it, searching reads all links of an account. Returns a function that
 * stops it.
 */
export const keepSearchIndex = ({ reader, onBuilt, onProblem, watching = unwatched }: SearchIndexOptions) =>
  repeat(
    watching(async () => {
      const start = performance.now()
      if (await buildSearchIndex(reader)) onBuilt(Math.round(performance.now() - start))
    }),
    interval,
    (error) => {
      // a cancelled statement: the service stops, and the index is built at the next start
      if (!(error instanceof NotReady) && !isCancelled(error)) onProblem(error)
    },
  )
