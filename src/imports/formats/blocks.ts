import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { problem } from '../../lib/problems/problem.ts'
import { UnreadableSource } from '../records.ts'

/** maximum bytes of a record */
export const recordLimit = 1024 * 1024
/** bytes that are read together: records in many small chunks would be copied again and again */
const blockSize = 64 * 1024

const joined = async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    parts.push(chunk)
    size += chunk.length
    if (size < blockSize) continue
    yield Buffer.concat(parts)
    parts = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(parts)
}

/** Spreadsheets save Unicode text as UTF-16. */
const fromUtf16 = async function* (blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder('utf-16le')
  for await (const block of blocks) yield Buffer.from(decoder.decode(block, { stream: true }))
  yield Buffer.from(decoder.decode())
}

const ignore = () => {}
/** limit of the unpacked size: a multiple of the file's size, and a size that is always allowed */
const [mostGrowth, always] = [100, 64 * 1024 * 1024]

/** Decompresses blocks. Throws `UnreadableSource` where a small file would keep the service busy for hours. */
const unpacked = async function* (blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let [packed, size] = [0, 0]
  const counted = async function* () {
    for await (const block of blocks) {
      packed += block.length
      yield block
    }
  }
  for await (const chunk of pipeline(Readable.from(counted()), createGunzip(), ignore) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > always && size > packed * mostGrowth)
      throw new UnreadableSource(problem('wrong_body', { what: 'growth', times: mostGrowth }))
    yield chunk
  }
}

/** Returns the bytes of a file in UTF-8 without a byte order mark, decompressed, in blocks of about one size. */
export const blocksOf = async function* (chunks: AsyncIterable<Uint8Array>, depth = 0): AsyncGenerator<Buffer> {
  const blocks = joined(chunks)
  const rest = async function* (begin: Buffer) {
    yield begin
    yield* blocks
  }
  try {
    const { value: first = Buffer.alloc(0) } = (await blocks.next()) as { readonly value?: Buffer }
    const [a, b, c] = first
    if (a === 0x1f && b === 0x8b && depth === 0) yield* blocksOf(unpacked(rest(first)), 1)
    else if (a === 0xff && b === 0xfe) yield* fromUtf16(rest(first.subarray(2)))
    else yield* rest(a === 0xef && b === 0xbb && c === 0xbf ? first.subarray(3) : first)
  } finally {
    // closes the file when the reader stops early
    await blocks.return(undefined)
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** Returns the text of bytes, undefined when they are not valid UTF-8. */
export const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}
