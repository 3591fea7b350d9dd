import { setImmediate as nextTurn } from 'node:timers/promises'
import { turnTimer } from '../../lib/async/pause.ts'
import { problem } from '../../lib/problems/problem.ts'
import type { Reading } from '../reading.ts'
import { type SourceRecord, UnreadableSource } from '../records.ts'
import { frames } from './frames.ts'
import { recordOf } from './json.ts'

/** bytes; headers are one block, and contents are filled up to whole blocks */
const block = 512

/** Files that say something about the archive alone, and changes that the links are the result of. */
const besides = /^(?:README\.txt|account\.json|manifest\.json|events\/.*)$/

/** Returns what takes bytes from blocks as they come. */
const createBytes = (blocks: AsyncIterable<Buffer>) => {
  const source = blocks[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  const more = async () => {
    const next = await source.next()
    if (next.done) throw new UnreadableSource(problem('wrong_body', { what: 'end' }))
    rest = rest.length === 0 ? next.value : Buffer.concat([rest, next.value])
  }
  const pass = (length: number) => {
    const taken = rest.subarray(0, length)
    rest = rest.subarray(length)
    return taken
  }
  return {
    take: async (length: number): Promise<Buffer> => {
      while (rest.length < length) await more()
      return pass(length)
    },
    each: async function* (length: number): AsyncGenerator<Buffer> {
      for (let left = length; left > 0;) {
        if (rest.length === 0) await more()
        const taken = pass(left)
        left -= taken.length
        yield taken
      }
    },
  }
}

const headerOf = (bytes: Buffer) => {
  const text = (from: number, length: number) =>
    bytes
      .toString('latin1', from, from + length)
      .split('\0', 1)
      .join()
  const size = text(124, 12).trim()
  if (!bytes.toString('latin1', 257).startsWith('ustar') || !/^[0-7]{1,12}$/.test(size))
    throw new UnreadableSource(problem('wrong_body', { what: 'format' }))
  return { name: text(0, 100), size: Number.parseInt(size, 8), isFile: text(156, 1) === '0' }
}

/** Reads the links of an archive that `GET /api/account/export` has made, with their counts. */
export const readArchive = async function* (
  blocks: AsyncIterable<Buffer>,
  reading: Reading,
): AsyncGenerator<SourceRecord> {
  const bytes = createBytes(blocks)
  let [lines, isComplete] = [0, false]
  const isLong = turnTimer()
  for (;;) {
    if (isLong()) await nextTurn()
    const header = await bytes.take(block)
    if (header.every((byte) => byte === 0)) break
    const { name, size, isFile } = headerOf(header)
    const content = bytes.each(size)
    if (isFile && name.startsWith('links/')) {
      let last = 0
      for await (const frame of frames(content)) {
        last = frame.line
        const { bytes: line, fault } = frame
        yield recordOf({ line: lines + last, bytes: line, ...(fault && { fault: 'long' }) }, reading)
      }
      lines += last
    } else for await (const _ of content);
    isComplete ||= name === 'manifest.json'
    if (isFile && !besides.test(name)) {
      const [folder = ''] = name.split('/', 1)
      if (folder !== 'links') reading.note('left_out', { folder })
    }
    await bytes.take((block - (size % block)) % block)
  }
  if (!isComplete) reading.note('cut', { records: lines })
}
