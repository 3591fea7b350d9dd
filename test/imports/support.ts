import { readFile, type ReadOptions } from '../../src/imports/formats/read.ts'
import { type Format, type SourceRecord, UnreadableSource } from '../../src/imports/records.ts'
import { sentenceOf } from '../../src/lib/problems/problem.ts'

/** Yields bytes in chunks of the lengths that are given; the last one is used again. */
export const chunksOf = async function* (bytes: Uint8Array, lengthOf: () => number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length;) {
    const length = Math.max(1, lengthOf())
    yield bytes.subarray(at, at + length)
    at += length
  }
}

/** Reads a file, whole or in chunks. */
export const readAll = async (
  given: string | Uint8Array,
  format: Format | 'auto' = 'auto',
  { lengthOf = () => 65_536, ...options }: Partial<ReadOptions> & { readonly lengthOf?: () => number } = {},
): Promise<readonly SourceRecord[]> => {
  const bytes = typeof given === 'string' ? Buffer.from(given) : given
  const records: SourceRecord[] = []
  for await (const record of readFile(format, chunksOf(bytes, lengthOf), { timezone: 'UTC', ...options }))
    records.push(record)
  return records
}

/** Returns records in short: problems with their sentence. */
export const shortly = (records: readonly SourceRecord[]) =>
  records.map((record) => {
    if (record.kind === 'problem') return { place: record.place, problem: sentenceOf(record.problem) }
    if (record.kind === 'notice') return { notice: record.notice, ...record.params }
    const { kind: _, ...rest } = record
    return rest
  })

/** Returns the sentence with which reading ends. */
export const refusalOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
  } catch (error) {
    if (error instanceof UnreadableSource) return sentenceOf(error.problem)
    throw error
  }
  return 'nothing'
}
