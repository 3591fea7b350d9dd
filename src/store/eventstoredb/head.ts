import type { Filter } from '../../events/store.ts'
import { batch } from '../../lib/async/batch.ts'

/** What a search needs to know of an event. */
export interface Passed {
  readonly position: bigint
  readonly id: string
  /** filters that it passes */
  readonly filters: ReadonlySet<Filter>
}

/** At most `count` events before a position, newest first; fewer only at the beginning of the log. */
export type ReadBack = (before: bigint | 'end', count: number) => Promise<readonly Passed[]>

/** How far the log was searched for a filter. */
export interface Searched {
  /** position and id of the newest event that was looked at */
  readonly upTo: bigint
  readonly id: string
  /** position of the newest event that passes the filter, among those up to there; 0n when there is none */
  readonly newest: bigint
}

/** Keeps what was searched across restarts. */
export interface SearchMemory {
  readonly load: (filter: Filter) => Promise<Searched | undefined>
  readonly save: (filter: Filter, searched: Searched) => Promise<void>
}

/**
 * Returns the position of the newest event that passes a filter, 0n when there is none. A signal ends the wait, not the
 * search.
 */
export type Head = (filter: Filter, signal?: AbortSignal) => Promise<bigint>

interface HeadParts {
  readonly readBack: ReadBack
  /** Returns the id of the event at a position, undefined when none begins there. */
  readonly idAt: (position: bigint) => Promise<string | undefined>
  readonly memory?: SearchMemory | undefined
  /** ms between savings while little is searched */
  readonly saveInterval?: number
}

const filters: readonly Filter[] = ['domain', 'clicks', 'all']
/** The log has usually grown by a few events; a long search reads many at a time. */
const [growth, largestPage] = [16, 4096]
/** A search of more events is saved at once: it is worth seconds at the next start. */
const manyEvents = 10_000
/** searches that wait for the one in progress */
const mostWaiting = 10_000

/** A part of the log, both ends included, in which no event passes a filter. */
interface Gap {
  readonly top: bigint
  readonly bottom: bigint
}

/** Recalls what an earlier process has searched, and saves what this one has. */
const remembering = ({ idAt, memory, saveInterval = 5000 }: HeadParts, searched: Map<Filter, Searched>) => {
  const recalled = new Set<Filter>()
  const savedAt = new Map<Filter, number>()
  return {
    /** Uses what was searched if this log still has the event up to which that came. */
    recall: async (filter: Filter) => {
      if (!memory || recalled.has(filter)) return
      const saved = await memory.load(filter).catch(() => undefined)
      if (saved && (await idAt(saved.upTo)) === saved.id) searched.set(filter, saved)
      recalled.add(filter)
    },
    save: (filter: Filter, count: number) => {
      const due = performance.now() - (savedAt.get(filter) ?? -Infinity) > saveInterval
      if (!memory || (!due && count < manyEvents)) return
      savedAt.set(filter, performance.now())
      // a lost saving costs time at the next start only
      void memory.save(filter, searched.get(filter)!).catch(() => {})
    },
  }
}

/** Finds the heads of all filters in one pass, and remembers what it has seen also when it is interrupted. */
const createSearch = (parts: HeadParts) => {
  const { readBack } = parts
  const searched = new Map<Filter, Searched>()
  const { recall, save } = remembering(parts, searched)
  const gaps = new Map<Filter, Gap>()

  const newestAt = (filter: Filter, event: Passed) => {
    const known = searched.get(filter)
    if (known && event.position <= known.upTo) return known.newest
    return event.filters.has(filter) ? event.position : undefined
  }
  /** Notes that nothing passes between the two; an older gap that is reached continues it. */
  const noteGap = (filter: Filter, top: bigint, bottom: bigint) => {
    const older = gaps.get(filter)
    if (older && older.top < bottom) return
    gaps.set(filter, { top, bottom: older && older.bottom < bottom ? older.bottom : bottom })
  }
  /** The log is shorter than it was: it was restored from a backup. */
  const forgetBeyond = (end: bigint) => {
    for (const filter of filters) {
      if ((searched.get(filter)?.upTo ?? -1n) > end) searched.delete(filter)
      if ((gaps.get(filter)?.top ?? -1n) > end) gaps.delete(filter)
    }
  }

  return async (wanted: Filter): Promise<bigint> => {
    await recall(wanted)
    const found = new Map<Filter, bigint>()
    // a filter is followed until the search jumps over a part that only `wanted` knows
    let followed = filters
    let top: Passed | undefined
    let before: bigint | 'end' = 'end'
    for (let [size, count] = [1, 0]; ; size = Math.min(size * growth, largestPage)) {
      const page: readonly Passed[] = await readBack(before, size)
      if (!top && page[0]) forgetBeyond(page[0].position)
      top ??= page[0]
      if (!top) return 0n
      count += page.length
      const bottom: bigint | 'end' = page.at(-1)?.position ?? before
      for (const filter of followed.filter((one) => !found.has(one))) {
        const hits = page.flatMap((event) => newestAt(filter, event) ?? [])
        const newest = hits[0] ?? (page.length < size ? 0n : undefined)
        if (newest === undefined) {
          if (bottom !== 'end') noteGap(filter, top.position, bottom)
          continue
        }
        found.set(filter, newest)
        searched.set(filter, { upTo: top.position, id: top.id, newest })
        gaps.delete(filter)
        save(filter, count)
      }
      const newest = found.get(wanted)
      if (newest !== undefined) return newest
      before = bottom
      const gap = gaps.get(wanted)
      if (!gap || before === 'end' || gap.top < before || gap.bottom >= before) continue
      before = gap.bottom
      followed = [wanted]
    }
  }
}

/**
 * Reads the log backwards, which the client cannot filter, as far as it was not read before. Calls that wait share a
 * search. Each page is answered in time or ends the search, which the next one continues.
 */
export const createHead = (parts: HeadParts): Head => {
  const search = createSearch(parts)
  const headOf = batch<Filter, bigint>(mostWaiting, async (wanted) => {
    const heads = new Map<Filter, bigint>()
    for (const filter of new Set(wanted)) heads.set(filter, await search(filter))
    return wanted.map((filter) => heads.get(filter)!)
  })
  return (filter, signal) => (signal ? untilAborted(signal, headOf(filter)) : headOf(filter))
}

const untilAborted = async <T>(signal: AbortSignal, work: Promise<T>): Promise<T> => {
  const ended = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    const end = () => reject(signal.reason instanceof Error ? signal.reason : new Error('stopped'))
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { signal: ended.signal })
  })
  return Promise.race([work, aborted]).finally(() => ended.abort())
}
