import type { Ordinals } from '../../../events/ordinals.ts'
import { entriesOf, type Entry, type IndexName } from '../../../queries/streams/accountindex.ts'
import type { Reader } from '../../../queries/reader.ts'
import { type StreamPlace, whole } from '../place.ts'

/** A line of a stream. */
export interface Row {
  readonly place: StreamPlace
  /** by which a client resumes after it */
  readonly id: string
  readonly value: object
}

/** Lines that follow each other. */
export interface Page {
  readonly rows: readonly Row[]
  /** where to go on after all of them */
  readonly end: StreamPlace
  /** texts made of these very rows, shared by the streams that send them */
  readonly texts?: Map<string, Piece> | undefined
}

/** Lines as they are sent. */
export interface Piece {
  readonly text: Buffer
  readonly rows: number
  /** where to go on after them */
  readonly end: StreamPlace
}

/** What a stream reads from. */
export interface Source {
  /** Returns the next lines after a place; undefined while there are none. */
  readonly next: (after: StreamPlace) => Promise<Page | undefined>
  /** Whether the last call has found an event that has no ordinal yet: it has one soon. */
  readonly isPending: () => boolean
}

export interface SourceOptions {
  readonly reader: Reader
  readonly ordinals: Ordinals
  readonly account: number
  /** position of the last event; undefined: the stream has no end */
  readonly until?: bigint | undefined
}

/** entries in one query of the index */
const entriesAtOnce = 64

/** An event of an account with its ordinal. */
export interface Numbered extends Entry {
  readonly ordinal: number
}

/**
 * Returns what reads an account's index in log order, some entries at a time. It stops before events that have no
 * ordinal yet.
 */
export const openEntries = (index: IndexName, { reader, ordinals, account, until }: SourceOptions) => {
  let read: readonly Numbered[] = []
  let pending = false
  const readFrom = async (from: bigint) => {
    const found = await entriesOf(reader, index, { account, from, limit: entriesAtOnce })
    const wanted = until === undefined ? found : found.filter(({ position }) => position <= until)
    const numbers = await ordinals.of(wanted.map(({ position }) => position))
    const end = wanted.findIndex(({ position }) => !numbers.has(position))
    pending = end >= 0
    return (end < 0 ? wanted : wanted.slice(0, end)).map((entry) => ({
      ...entry,
      ordinal: numbers.get(entry.position)!,
    }))
  }
  return {
    isPending: () => pending,
    /** Returns the next entries after a place, with that of the place itself while it has lines left. */
    after: async ({ position, index }: StreamPlace): Promise<readonly Numbered[]> => {
      const from = index === whole ? position + 1n : position
      read = read.filter((entry) => entry.position >= from)
      if (read.length === 0) read = await readFrom(from)
      return read
    },
  }
}
