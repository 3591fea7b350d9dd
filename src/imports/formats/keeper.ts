import { recordLimit } from './blocks.ts'

/** Keeps the bytes of a record that may go on in another block; of one that is too long, none. */
export const createKeeper = () => {
  let [parts, size, start]: [Buffer[], number, number] = [[], 0, -1]
  const keep = (bytes: Buffer) => {
    size += bytes.length
    if (size > recordLimit) parts = []
    else parts.push(bytes)
  }
  return {
    isOpen: () => start >= 0,
    begin: (at: number) => {
      ;[parts, size, start] = [[], 0, at]
    },
    /** Keeps what a block has of the record that is open. */
    endBlock: (block: Buffer) => {
      if (start < 0) return
      keep(block.subarray(start))
      start = 0
    },
    /** Returns the record that ends before a place, undefined when it is too long. */
    end: (block: Buffer, at: number): Buffer | undefined => {
      keep(block.subarray(start, at))
      const bytes = size > recordLimit ? undefined : Buffer.concat(parts)
      ;[parts, start] = [[], -1]
      return bytes
    },
    reset: () => {
      ;[parts, start] = [[], -1]
    },
  }
}
