import { createHash } from 'node:crypto'
import { splitLines } from './lines.ts'
import { OperatorError } from './operatorerror.ts'

/** One record of a file: its kind and its content. */
export type Entry = readonly [kind: string, value: unknown]
/** The same, with the number of its line. */
export interface NumberedEntry {
  readonly line: number
  readonly kind: string
  readonly value: unknown
}

/** A file was changed after it was written, or its end is missing. The message names the line. */
export class DamagedFile extends OperatorError {
  override readonly name = 'DamagedFile'
}
export const damaged = (name: string, line: number, problem: string, cause?: unknown): DamagedFile =>
  new DamagedFile(`line ${line} of ${name} is damaged: ${problem}. Nothing was changed; use another copy of the file`, {
    cause,
  })

const prefix = '{"sha256":"'
/** bytes before the part of a line that its checksum covers */
const hashed = prefix.length + 64 + '",'.length
/** An event has at most 1 MB; anything much longer is no line of ours. */
const longestLine = 16 * 1024 * 1024

const digest = (before: string, rest: Buffer | string) => createHash('sha256').update(before).update(rest).digest('hex')

/**
 * Returns a function that makes a line of JSON: `{"sha256":"…","<kind>":…}`. The checksum covers the rest of the line
 * and the checksum of the line before, so that no line can be changed, left out or moved.
 */
export const createChain = () => {
  let last = ''
  return ([kind, value]: Entry): string => {
    const rest = `${JSON.stringify(kind)}:${JSON.stringify(value)}}`
    last = digest(last, rest)
    return `${prefix}${last}",${rest}\n`
  }
}

/**
 * Reads what `createChain` made. Throws `DamagedFile` at the first line that is not as it was written, before it
 * returns anything of it.
 */
export const readChain = async function* (
  chunks: AsyncIterable<Buffer>,
  name: string,
): AsyncGenerator<readonly NumberedEntry[]> {
  let [last, line] = ['', 0]
  const entryOf = (bytes: Buffer): NumberedEntry => {
    const rest = bytes.subarray(hashed)
    last = digest(last, rest)
    if (bytes.toString('latin1', 0, hashed) !== `${prefix}${last}",`)
      throw damaged(name, line, 'its checksum does not match')
    const [, entry] = Object.entries(JSON.parse(bytes.toString()) as Readonly<Record<string, unknown>>)
    return { line, kind: entry?.[0] ?? '', value: entry?.[1] }
  }
  try {
    for await (const lines of splitLines(chunks, longestLine))
      yield lines.map(({ bytes, complete }) => {
        line++
        if (!complete) throw damaged(name, line, 'the file ends in it')
        return entryOf(bytes)
      })
  } catch (error) {
    if (error instanceof DamagedFile || !isContentProblem(error)) throw error
    throw damaged(name, line + 1, error.message, error)
  }
}

/** A damaged gzip file, a line without end, or a line that is not JSON; not an error of the disk. */
const isContentProblem = (error: unknown): error is Error =>
  error instanceof RangeError ||
  error instanceof SyntaxError ||
  (error instanceof Error && String((error as NodeJS.ErrnoException).code).startsWith('Z_'))
