import { open } from 'node:fs/promises'
import type { SpoolEntry } from '../visit.ts'
import type { Quarantine } from './quarantine.ts'
import type { Entry, Piece, Segment } from './segment.ts'
import { isWithin, readPieces } from './segment.ts'

export interface Source {
  /** oldest first; shared with the writer, which appends to it and takes released ones away */
  readonly segments: readonly Segment[]
  readonly quarantine: Quarantine
  /** Waits for the next sync; false when there is nothing more to wait for. */
  readonly more: (signal: AbortSignal) => Promise<boolean>
}

/** A released segment is in the list no longer, nor is any before it: the next one is then the first. */
const nextOf = (segments: readonly Segment[], segment: Segment): Segment | undefined =>
  segments[segments.indexOf(segment) + 1]

const toEntry = ({ partition, seq, ...content }: Entry): SpoolEntry =>
  'visit' in content ? { partition, seq, visit: content.visit } : { partition, seq, dropped: content.dropped }

/** What gets synced of one segment, and in between whether that is all for now, or all that there will ever be. */
async function* follow(
  { segments, more }: Source,
  segment: Segment,
  signal: AbortSignal,
): AsyncGenerator<readonly Piece[] | 'caught up' | 'complete'> {
  const file = await open(segment.path, 'r').catch((error: unknown) => {
    if (segments.includes(segment)) throw error
    return undefined
  })
  if (!file) return
  try {
    for (let offset = 0, told = 0; ;) {
      if (offset < segment.synced) {
        const pieces = await readPieces(file, offset, segment.synced)
        offset = pieces.at(-1)?.end ?? segment.synced
        yield pieces
      } else if (segment !== segments.at(-1) && segment.synced === segment.size) {
        yield 'complete'
        return
      } else if (told < offset) {
        told = offset
        yield 'caught up'
      } else if (!(await more(signal))) {
        return
      }
    }
  } finally {
    await file.close()
  }
}

/** Reads a spool on and on: one open file and an offset in it, no timer, no second look at what was read. */
export async function* tail(
  source: Source,
  after: Readonly<Record<number, number>>,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<readonly SpoolEntry[]> {
  const { segments, quarantine, more } = source
  const taken: Record<number, number> = { ...after }
  // A write that failed may have left entries behind that stand again, with the same numbers, in the next segment.
  const isNew = ({ partition, seq }: Entry): boolean => seq > (taken[partition] ?? 0)

  // A spool that began on a full disk has no segment yet.
  while (segments.length === 0) if (!(await more(signal))) return

  const batch: SpoolEntry[] = []
  let segment = segments.findLast(({ header }) => isWithin(header.last, taken)) ?? segments[0]
  for (; segment && !signal.aborted; segment = nextOf(segments, segment)) {
    for await (const found of follow(source, segment, signal)) {
      for (const piece of Array.isArray(found) ? found : []) {
        if (!piece.line) {
          await quarantine.copy(segment.path, piece)
        } else if ('seq' in piece.line && isNew(piece.line)) {
          taken[piece.line.partition] = piece.line.seq
          batch.push(toEntry(piece.line))
        }
      }
      if (found === 'complete') segment.reached = segment.header.last.map((_, partition) => taken[partition] ?? 0)
      while (batch.length >= limit || (found === 'caught up' && batch.length > 0)) {
        if (signal.aborted) return
        yield batch.splice(0, limit)
      }
    }
  }
}
