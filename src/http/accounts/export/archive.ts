import { pipeline, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { constants, createGzip } from 'node:zlib'
import { tarComment, tarEnd, tarFile } from '../../../lib/tar.ts'

/**
 * Bytes of a file of lines at most; a longer line is a file of its own. A file ends after some seconds, too, and a
 * comment is sent while nothing is found: a connection that is silent for a minute is closed, and many exports at once
 * are slow.
 */
const [partBytes, partMs] = [1024 * 1024, 10_000]

/** What an archive has: a text, several files, or a folder whose files have one JSON value on each line. */
export type Content =
  | { readonly file: string; readonly text: () => Promise<string> | string }
  | { readonly files: AsyncIterable<{ readonly name: string; readonly content: Buffer }> }
  | { readonly folder: string; readonly lines: AsyncIterable<object>; readonly form?: Form<never> }

/** What the lines of a folder are, where they are no JSON: how one is written, and what stands at the top of a file. */
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
  /** the number of lines in each folder so far: what comes last can have all of them */
  readonly counts: Map<string, number>
  readonly modified: Date
  readonly signal: AbortSignal
  /** ms that a file of lines is collected */
  readonly longest?: number
  /** Rejects once the client may not have any more. */
  readonly requireAdmitted: () => Promise<void>
}

const filesOf = async function* (contents: readonly Content[], options: ArchiveOptions) {
  const { counts, modified, signal, longest = partMs, requireAdmitted } = options
  /** A file was made of what there is by now, so it is asked afterwards. */
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

/** Returns what an archive is made of, with a comment after each time in which nothing came. */
const withSigns = async function* (files: AsyncGenerator<Buffer>, ms: number) {
  try {
    for (;;) {
      const next = files.next()
      // it may fail while the comment is being sent
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
 * Returns a `.tar.gz` that is made as fast as it is read: one file at a time is in memory. `onClose` is called once it
 * is complete, failed or destroyed.
 */
export const archive = (
  contents: readonly Content[],
  {
    lost,
    onClose,
    ...options
  }: Pick<ArchiveOptions, 'counts' | 'longest' | 'requireAdmitted'> & {
    /** aborts when the archive may not be read any more */
    readonly lost: AbortSignal
    readonly onClose: () => void
  },
): Readable => {
  const stopped = new AbortController()
  const made = filesOf(contents, { ...options, modified: new Date(), signal: stopped.signal })
  const files = Readable.from(withSigns(made, options.longest ?? partMs))
  // each file is sent once it is there
  const zipped = createGzip({ flush: constants.Z_SYNC_FLUSH })
  lost.addEventListener('abort', () => zipped.destroy(lost.reason as Error))
  zipped.once('close', () => {
    stopped.abort()
    onClose()
  })
  // an error destroys both; whoever reads the result receives it
  return pipeline(files, zipped, () => {})
}
