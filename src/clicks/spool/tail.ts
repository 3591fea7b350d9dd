import { open } from 'node:fs/promises'
import type { Signal } from '../../lib/async/signal.ts'
import type { SeqByPartition } from '../entry.ts'
import type { Quarantine } from './quarantine.ts'
import { isWithin, type Piece, readPieces, type Segment, type SpoolEntry, type StoredEntry } from './segment.ts'

export interface Source {
  /** oldest first; shared with the journal, which appends new segments and removes released ones */
  readonly segments: readonly Segment[]
  readonly quarantine: Quarantine
  /** Waits for the next sync. Resolves to false when there will be none, or the signal aborts. */
  readonly waitForSync: (signal: AbortSignal) => Promise<boolean>
}

/** Waits for the next notification. Returns false when the signal aborts first. */
export const hasMore = async (synced: Signal, signal: AbortSignal): Promise<boolean> => {
  await synced.after(synced.count(), signal)
  return !signal.aborted
}

/** The segment after this one. Once this one is released, all before it are too, and the next is the first. */
const nextOf = (segments: readonly Segment[], segment: Segment): Segment | undefined =>
  segments[segments.indexOf(segment) + 1]

const toEntry = ({ partition, seq, ...content }: StoredEntry): SpoolEntry =>
  'visit' in content ? { partition, seq, visit: content.visit } : { partition, seq, dropped: content.dropped }

/** ms until another thread has seen that a segment was released, whose file is already deleted */
const newsMs = 1000

/** Opens a segment; undefined when it has been released. */
const openUnlessReleased = async ({ segments, waitForSync }: Source, segment: Segment, signal: AbortSignal) => {
  const tryOpen = () => open(segment.path, 'r').catch((error: unknown) => ({ error }))
  let file = await tryOpen()
  if ('error' in file && segments.includes(segment)) {
    await waitForSync(AbortSignal.any([signal, AbortSignal.timeout(newsMs)]))
    file = await tryOpen()
  }
  if (!('error' in file)) return file
  if (segments.includes(segment)) throw file.error
  return undefined
}

/**
 * Yields the synced pieces of one segment; 'caught up' when that is all for now, 'complete' when there will be no more.
 */
async function* follow(
  source: Source,
  segment: Segment,
  signal: AbortSignal,
): AsyncGenerator<readonly Piece[] | 'caught up' | 'complete'> {
  const { segments, waitForSync } = source
  const file = await openUnlessReleased(source, segment, signal)
  if (!file) return
  try {
    for (let offset = 0, caughtUpAt = 0; ;) {
      if (offset < segment.synced) {
        const pieces = await readPieces(file, offset, segment.synced)
        offset = pieces.at(-1)?.end ?? segment.synced
        yield pieces
      } else if (segment !== segments.at(-1) && segment.synced === segment.size) {
        yield 'complete'
        return
      } else if (caughtUpAt < offset) {
        caughtUpAt = offset
        yield 'caught up'
      } else if (!(await waitForSync(signal))) {
        return
      }
    }
  } finally {
    await file.close()
  }
}

/** Follows a spool, holding one open file and an offset in it: it needs no timer and reads no byte twice. */
export async function* tail(
  source: Source,
  after: SeqByPartition,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<readonly SpoolEntry[]> {
  const { segments, quarantine, waitForSync } = source
  const readUpTo: Record<number, number> = { ...after }
  // A failed write may leave entries behind that the next segment repeats under the same numbers.
  const isNew = ({ partition, seq }: StoredEntry): boolean => seq > (readUpTo[partition] ?? 0)

  // A spool that was created on a full disk has no segment yet.
  while (segments.length === 0) if (!(await waitForSync(signal))) return

  const batch: SpoolEntry[] = []
  let segment = segments.findLast(({ header }) => isWithin(header.last, readUpTo)) ?? segments[0]
  for (; segment && !signal.aborted; segment = nextOf(segments, segment)) {
    for await (const found of follow(source, segment, signal)) {
      for (const piece of Array.isArray(found) ? found : []) {
        if (!piece.line) {
          await quarantine.copy(segment.path, piece)
        } else if ('seq' in piece.line && isNew(piece.line)) {
          readUpTo[piece.line.partition] = piece.line.seq
          batch.push(toEntry(piece.line))
        }
      }
      if (found === 'complete') segment.readUpTo = segment.header.last.map((_, partition) => readUpTo[partition] ?? 0)
      while (batch.length >= limit || (found === 'caught up' && batch.length > 0)) {
        if (signal.aborted) return
        yield batch.splice(0, limit)
      }
    }
  }
}
