/** A line without its line feed, or what is left at the end without one. */
export interface Line {
  readonly bytes: Buffer
  readonly complete: boolean
}

/** Splits chunks into lines, several at a time. Throws RangeError at a line of more than `limit` bytes. */
export const splitLines = async function* (
  chunks: AsyncIterable<Buffer>,
  limit: number,
): AsyncGenerator<readonly Line[]> {
  let parts: Buffer[] = []
  let size = 0
  const add = (part: Buffer) => {
    size += part.length
    if (size > limit) throw new RangeError(`a line has more than ${limit} bytes`)
    parts.push(part)
  }
  const take = (complete: boolean): Line => {
    const bytes = Buffer.concat(parts)
    parts = []
    size = 0
    return { bytes, complete }
  }
  for await (const chunk of chunks) {
    const lines: Line[] = []
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      add(chunk.subarray(start, end))
      lines.push(take(true))
      start = end + 1
    }
    add(chunk.subarray(start))
    if (lines.length > 0) yield lines
  }
  if (size > 0) yield [take(false)]
}
