import { randomBytes } from 'node:crypto'
import { closeSync, createReadStream, createWriteStream, openSync, readSync, statSync } from 'node:fs'
import { mkdtemp, open, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { pipeline as pipe, Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { OperatorError } from './operatorerror.ts'

/** The name that means standard input or output. */
export const standard = '-'

/** Errors reach the reader of the stream. */
const ignore = () => {}

const isGzip = (file: string) => file.endsWith('.gz')

/** RFC 1952, 2.3.1: a backup that was compressed in a pipe has no file name. */
const beginsAsGzip = (file: string) => {
  const descriptor = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(2)
    readSync(descriptor, bytes, 0, 2, 0)
    return bytes.equals(Buffer.from([0x1f, 0x8b]))
  } finally {
    closeSync(descriptor)
  }
}

const cannot = (verb: string, file: string) => (cause: NodeJS.ErrnoException) => {
  if (cause.code === undefined || cause.path === undefined) throw cause
  throw new OperatorError(`${file || 'a file without a name'} cannot be ${verb} (${cause.code})`, { cause })
}

/**
 * Writes text to a file, compressed when its name ends in `.gz`, or to `output` when it is `-`. A file of that name is
 * replaced only once the new one is complete and on the disk.
 */
export const writeFileOr = async (output: Writable, file: string, text: AsyncIterable<string>): Promise<void> => {
  if (file === standard) return pipeline(Readable.from(text), output, { end: false })
  // a device or a pipe must not be replaced
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false)
    throw new OperatorError(`${file} is not a file: name one, or write to standard output with -`)
  const draft = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}`)
  try {
    const written = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true })
    await (isGzip(file) ? pipeline(Readable.from(text), createGzip(), written) : pipeline(Readable.from(text), written))
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    cannot('written', file)(error as NodeJS.ErrnoException)
  }
  const folder = await open(dirname(file), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/**
 * The bytes of a file, decompressed when its name ends in `.gz` or it begins as a gzip file does. `onRead` gets the
 * number of stored bytes that were read.
 */
export const readBytes = async function* (
  file: string,
  onRead: (bytes: number) => void = () => {},
): AsyncGenerator<Buffer> {
  try {
    // before the stream: its error would be unhandled if this throws
    const isCompressed = isGzip(file) || beginsAsGzip(file)
    const stored = createReadStream(file, { highWaterMark: 256 * 1024 })
    const bytes = isCompressed ? pipe(stored, createGunzip({ chunkSize: 256 * 1024 }), ignore) : stored
    for await (const chunk of bytes) {
      onRead(stored.bytesRead)
      yield chunk as Buffer
    }
  } catch (error) {
    cannot('read', file)(error as NodeJS.ErrnoException)
  }
}

/** A file that can be read several times. */
export interface ReadableFile {
  readonly path: string
  /** its name in messages */
  readonly name: string
  readonly close: () => Promise<void>
}

/** Returns the file, or for `-` a temporary copy of `input`: an import reads it twice, first to check it. */
export const fileOr = async (input: Readable, file: string): Promise<ReadableFile> => {
  if (file !== standard) return { path: file, name: file, close: async () => {} }
  const dir = await mkdtemp(join(tmpdir(), 'linkledger-'))
  const path = join(dir, 'input')
  const close = () => rm(dir, { recursive: true, force: true })
  try {
    await pipeline(input, createWriteStream(path, { mode: 0o600 }))
  } catch (error) {
    await close()
    throw error
  }
  return { path, name: 'the input', close }
}
