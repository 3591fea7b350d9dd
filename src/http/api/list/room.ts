import type { Listed, Position } from '../../../queries/page.ts'

/** maximum MiB of JSON of the entries of a page: the process serves no other request while it writes them */
export const mostMiB = 4

const pick = <R extends object>(row: R, names: ReadonlySet<string>) =>
  Object.fromEntries(Object.entries(row).filter(([name]) => names.has(name))) as Partial<R>

/** Returns the requested columns of a row, or all without a request for columns. */
export const columnsOf = <R extends object>(row: R, shown: ReadonlySet<string>): Partial<R> =>
  shown.size === 0 ? row : pick(row, shown)

/** The first entries of a page, as many as fit into an answer. */
export interface Room<T> {
  /** Keeps the entry of a row, unless earlier entries need the room. Entries may come in any order. */
  readonly put: (row: number, entry: T) => void
  readonly get: (row: number) => T | undefined
  /** Whether there may be room for the entry of a row: neither it nor an earlier one was left out. */
  readonly hasRoom: (row: number) => boolean
  /** Whether an entry was left out. */
  readonly isFull: () => boolean
  /** Returns the rows of the page whose entries fit, and where the list continues: after the last of them. */
  readonly rows: <R>(
    listed: Pick<Listed<R>, 'rows' | 'next'>,
    placeOf: (row: R) => Position,
  ) => Pick<Listed<R>, 'rows' | 'next' | 'cut'>
}

/** `jsonOf` returns the JSON of an entry in the answer. The first entry always fits. */
export const createRoom = <T>(jsonOf: (entry: T) => object, most = mostMiB * 1024 * 1024): Room<T> => {
  const kept = new Map<number, { readonly entry: T; readonly size: number }>()
  let [size, end] = [0, Infinity]
  const leaveOutLast = () => {
    end = [...kept.keys()].reduce((a, b) => Math.max(a, b))
    size -= kept.get(end)?.size ?? 0
    kept.delete(end)
  }
  return {
    put: (row, entry) => {
      if (row >= end) return
      const own = Buffer.byteLength(JSON.stringify(jsonOf(entry)))
      kept.set(row, { entry, size: own })
      size += own
      while (size > most && (kept.size > 1 || !kept.has(0))) leaveOutLast()
    },
    get: (row) => kept.get(row)?.entry,
    hasRoom: (row) => row < end,
    isFull: () => end < Infinity,
    rows: ({ rows, next }, placeOf) => {
      const last = end < rows.length ? rows[end - 1] : undefined
      return last === undefined ? { rows, next } : { rows: rows.slice(0, end), next: placeOf(last), cut: true }
    },
  }
}
