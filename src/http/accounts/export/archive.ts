import { pipeline, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { constants, createGzip } from 'node:zlib'
import { tarComment, tarEnd, tarFile } from '../../../lib/tar.ts'

/**
 * Maximum bytes of a file of lines; a longer line is a file of its own. A file also ends after some seconds, and a
 * comment is sent while nothing is found: a connection that is silent for a minute is closed, and many exports at once
 * are slow.
 */
const [partBytes, partMs] = [1024 * 1024, 10_000]

/** The content of an archive: a text, several files, or a folder whose files have one JSON value on each line. */
export type Content =
  | { readonly file: string; readonly text: () => Promise<string> | string }
  | { readonly files: AsyncIterable<{ readonly name: string; readonly content: Buffer }> }
  | { readonly folder: string; readonly lines: AsyncIterable<object>; readonly form?: Form<never> }

/** The form of lines that are not JSON: how to write a line, and the header of a file. */
interface Form<L> {
  readonly extension: string
  readonly head?: string
  readonly line: (line: L) => string
}
const json: Form<object> = { extension: 'ndjson', line: (line) => JSON.stringify(line) }

/** Joins lines to the contents of files. */
const parts = async function* (
  lines: AsyncIterable<object>,
  { head = '', line: write }: Form<object>,
  longest: number,
  onLine: () => void,
): AsyncGenerator<Buffer> {
  let part: Buffer[] = []
  let size = 0
  let began = performance.now()
  for await (const line of lines) {
    onLine()
    const text = Buffer.from(`${write(line)}\n`)
    if (size > 0 && (size + text.length > partBytes || performance.now() - began > longest)) {
      yield Buffer.concat(part)
      part = []
      size = 0
      began = performance.now()
    }
    if (size === 0) part.push(Buffer.from(head))
    part.push(text)
    size += text.length
  }
  if (size > 0) yield Buffer.concat(part)
}

interface ArchiveOptions {
  /** number of lines in each folder so far: complete for the last content */
  readonly counts: Map<string, number>
  readonly modified: Date
  readonly signal: AbortSignal
  /** ms for which a file of lines is collected */
  readonly longest?: number
  /** Rejects when the client may not read any more. */
  readonly requireAdmitted: () => Promise<void>
}

const filesOf = async function* (contents: readonly Content[], options: ArchiveOptions) {
  const { counts, modified, signal, longest = partMs, requireAdmitted } = options
  /** checks the caller after a file has been made of the current data */
  const file = async (name: string, content: Buffer) => {
    await requireAdmitted()
    return tarFile({ name, content, modified })
  }
  for (const content of contents) {
    signal.throwIfAborted()
    if ('file' in content) {
      yield file(content.file, Buffer.from(await content.text()))
      continue
    }
    if ('files' in content) {
      for await (const { name, content: bytes } of content.files) yield file(name, bytes)
      continue
    }
    const { folder, lines, form = json } = content
    counts.set(folder, 0)
    const onLine = () => {
      signal.throwIfAborted()
      counts.set(folder, (counts.get(folder) ?? 0) + 1)
    }
    let n = 0
    for await (const part of parts(lines, form as Form<object>, longest, onLine))
      yield file(`${folder}/${String(++n).padStart(6, '0')}.${form.extension}`, part)
  }
  yield tarEnd
}

/** Returns the content of an archive, with a comment after each silent period. */
const withSigns = async function* (files: AsyncGenerator<Buffer>, ms: number) {
  try {
    for (;;) {
      const next = files.next()
      // it may fail while the comment is sent
      next.catch(() => {})
      for (;;) {
        const found = new AbortController()
        const silent = sleep(ms, undefined, { signal: found.signal }).catch(() => {})
        const result = await Promise.race([next, silent]).finally(() => found.abort())
        if (result?.done) return
        if (result) {
          yield result.value
          break
        }
        yield tarComment('this takes a while', new Date())
      }
    }
  } finally {
    void files.return(undefined).catch(() => {})
  }
}

/**
 * Returns a `.tar.gz` that is made as fast as it is read, with one file at a time in memory. Calls `onClose` once it is
 * complete, failed or destroyed.
 */
export const archive = (
  contents: readonly Content[],
  {
    lost,
    onClose,
    ...options
  }: Pick<ArchiveOptions, 'counts' | 'longest' | 'requireAdmitted'> & {
    /** aborts when the archive may no longer be read */
    readonly lost: AbortSignal
    readonly onClose: () => void
  },
): Readable => {
  const stopped = new AbortController()
  const made = filesOf(contents, { ...options, modified: new Date(), signal: stopped.signal })
  const files = Readable.from(withSigns(made, options.longest ?? partMs))
  // sends each file as soon as it is complete
  const zipped = createGzip({ flush: constants.Z_SYNC_FLUSH })
  lost.addEventListener('abort', () => zipped.destroy(lost.reason as Error))
  zipped.once('close', () => {
    stopped.abort()
    onClose()
  })
  // an error destroys both streams; the reader of the result receives it
  return pipeline(files, zipped, () => {})
}
